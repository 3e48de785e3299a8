package transcript

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/linediff"
	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

// Write is a call of an edit tool that wrote text to a file.
type Write struct {
	// Path is the file as passed to the tool, relative to the root if it is below it.
	Path string
	// Call is the id of the tool use, Subagent the id of the subagent, empty for the main agent.
	Call, Subagent string
	// Line is the number of its line in its transcript, from 0.
	Line int
	// Whole reports that the tool wrote the whole file, including lines that existed before.
	Whole bool

	at     time.Time // zero if unknown
	failed bool
	// done and doneAt are the line and the time of the result, -1 and zero without one.
	done   int
	doneAt time.Time
	// edits are the requested replacements of an edit tool, all whether each replaces every match;
	// before is the file's content before the call, nil if the result doesn't show it.
	edits  []TextEdit
	all    bool
	before *string
}

// shellCommand is a call of a tool that can change any file.
type shellCommand struct {
	Write

	text string
}

// Writes indexes the text written by the edit tools of transcripts by line. Lines that an edit only
// repeats are left out. The zero value is empty.
type Writes struct {
	// Root is the project's directory, empty if unknown. Paths that are not below it are made
	// relative to the directory that their line names.
	Root string
	// Adapt returns a command that ran in a directory, which may be empty, as it would have to be in
	// Root; false leaves it out. If Adapt is nil commands are kept as they are.
	Adapt func(command, dir string) (string, bool)
	// Subagent is the id of the subagent whose transcript's lines follow, empty for the main
	// agent's.
	Subagent string

	events Events
	calls  []Write
	byCall map[string]int              // indexes of calls
	lines  map[string]map[string][]int // by path and trimmed text: indexes of calls, in order
	names  map[string][]string         // paths by their last element
	parts  map[string][]part           // by path: the ends of edits within lines, in order
	gone   map[string][]removal        // by trimmed text: the calls that removed the line
	shown  map[string][]Write          // by trimmed text: for each path and agent the first call that shows the line
	shell  []shellCommand
	asked  []int // lines of the main agent's prompts, in order
	// isMixed reports that calls of subagents were read and not yet sorted by time, isUntimed that
	// the time of a call is unknown.
	isMixed, isUntimed bool
	hasSubagents       bool // calls of subagents were read
}

// part is the first or last line of an edit's text, which may begin or end within a line.
type part struct {
	text string
	at   int // index in calls
	// begins and ends report that the part reaches to the beginning or the end of its line.
	begins, ends bool
}

// removal is a line that a call removed from a file.
type removal struct {
	path string
	at   int // index in calls
}

// AddLine adds line n of a transcript.
func (w *Writes) AddLine(raw []byte, n int) {
	w.events.Subagents = true
	e, ok := w.events.Line(raw)
	by := w.Subagent
	if ok && by == "" && e.Sidechain {
		by, ok = e.Subagent, e.Subagent != ""
	}
	if !ok {
		return
	}
	if by == "" && e.IsPrompt() {
		w.asked = append(w.asked, n)
	}
	if len(e.Uses) > 0 {
		at := lineTime(forms.Line(raw))
		for i := range e.Uses {
			w.use(e, &e.Uses[i], Write{Line: n, Subagent: by, at: at, done: noResult})
		}
	}
	for _, r := range e.Results {
		for i := len(w.shell) - 1; i >= 0; i-- {
			if c := &w.shell[i]; c.Call == r.Of {
				c.done, c.doneAt = n, lineTime(forms.Line(raw))
				break
			}
		}
		at, known := w.byCall[r.Of]
		if !known {
			if file := e.Detail().Member("file"); !r.Failed && len(file) > 0 {
				given := w.relative(file.Member("filePath").Text(), e.Cwd)
				w.show(file.Member("content").Text(), Write{Path: given, Line: n, Subagent: by, at: lineTime(forms.Line(raw))})
			}
			continue
		}
		call := &w.calls[at]
		call.failed = call.failed || r.Failed
		call.done, call.doneAt = n, lineTime(forms.Line(raw))
		original := e.Detail().Member("originalFile")
		call.before = contentBefore(original, call)
		w.show(original.Text(), *call)
		if call.Whole {
			w.dropRepeated(at, original.Text())
		}
	}
}

// show records that a file had the lines of a text before a call.
func (w *Writes) show(text string, call Write) {
	if w.shown == nil {
		w.shown = map[string][]Write{}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		isKnown := func(c Write) bool { return c.Path == call.Path && c.Subagent == call.Subagent }
		if line != "" && !slices.ContainsFunc(w.shown[line], isKnown) {
			w.shown[line] = append(w.shown[line], call)
		}
	}
}

// Predates reports whether a line was in a file before any matching call can have written it: a
// matching call shows it in the file's former content or in a result, and neither an edit that has
// the line nor a command that may change the file preceded that call.
func (w *Writes) Predates(names []string, text string, matches func(Write) bool, mayChange func(command string) bool) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(w.shown[text], func(shown Write) bool {
		isOf := func(file string) bool { return isFile(shown.Path, file) }
		if !slices.ContainsFunc(names, isOf) || !matches(shown) {
			return false
		}
		isBefore := func(c Write) bool {
			if c.Subagent == shown.Subagent {
				return c.Line < shown.Line
			}
			return c.at.IsZero() || shown.at.IsZero() || !c.at.After(shown.at)
		}
		mayWrite := func(c Write) bool { return isBefore(c) && matches(c) }
		_, edited := w.FindPart(names, text, mayWrite)
		return !edited && !slices.ContainsFunc(w.shell, func(c shellCommand) bool { return mayWrite(c.Write) && mayChange(c.text) })
	})
}

// contentBefore returns the content that a result records for its file before the call, nil if it
// records none. A file that a call created had no content.
func contentBefore(original Value, call *Write) *string {
	text := original.Text()
	switch {
	case len(original) > 0 && original[0] == '"':
	case !call.Whole || string(original) != "null":
		return nil
	}
	return &text
}

// dropRepeated removes the lines that the file already had before a call that wrote it whole.
func (w *Writes) dropRepeated(at int, original string) {
	places := w.lines[w.calls[at].Path]
	for line := range strings.Lines(original) {
		text := strings.TrimSpace(line)
		if !slices.Contains(places[text], at) {
			w.noteRemoval(text, at)
		}
	}
	for line := range strings.Lines(original) {
		text := strings.TrimSpace(line)
		places[text] = slices.DeleteFunc(places[text], func(i int) bool { return i == at })
	}
}

// noteRemoval records that a call removed a line from its file.
func (w *Writes) noteRemoval(text string, at int) {
	if w.gone == nil {
		w.gone = map[string][]removal{}
	}
	w.gone[text] = append(w.gone[text], removal{w.calls[at].Path, at})
}

// IsBehindNextPrompt reports whether the line call of the main agent's transcript is at or after
// the next prompt that follows the turn begun at line begin, as far as the transcript was read.
func (w *Writes) IsBehindNextPrompt(begin, call int) bool {
	first, _ := slices.BinarySearch(w.asked, begin)
	return first+1 < len(w.asked) && w.asked[first+1] <= call
}

// use adds a call whose line, agent and time are set already.
func (w *Writes) use(e *Event, use *ToolUse, call Write) {
	given, edits := use.Edits()
	call.Call = use.ID
	w.isMixed, w.isUntimed = w.isMixed || call.Subagent != "", w.isUntimed || call.at.IsZero()
	w.hasSubagents = w.hasSubagents || call.Subagent != ""
	if effectOf(use.Tool) == effectAny && !IsTask(use.Tool) {
		command, ok := use.Input.Member("command").Text(), true
		if w.Adapt != nil {
			command, ok = w.Adapt(command, e.Cwd)
		}
		if ok {
			w.shell = append(w.shell, shellCommand{call, command})
		}
	}
	if given == "" || len(edits) == 0 {
		return
	}
	if _, known := w.byCall[use.ID]; known && use.ID != "" {
		return // the same message, written again
	}
	if w.byCall == nil {
		w.byCall, w.lines, w.names = map[string]int{}, map[string]map[string][]int{}, map[string][]string{}
	}
	at := len(w.calls)
	call.Path = w.relative(given, e.Cwd)
	call.Whole = !slices.ContainsFunc(edits, func(edit TextEdit) bool { return edit.Old != "" })
	call.edits, call.all = edits, use.Input.Member("replace_all").True()
	w.calls = append(w.calls, call)
	w.byCall[use.ID] = at
	file := w.calls[at].Path
	if w.lines[file] == nil {
		w.lines[file] = map[string][]int{}
		w.names[path.Base(file)] = append(w.names[path.Base(file)], file)
	}
	for _, edit := range edits {
		w.show(edit.Old, w.calls[at])
		kept := map[string]bool{}
		for line := range strings.Lines(edit.Old) {
			kept[strings.TrimSpace(line)] = true
		}
		w.addParts(file, edit, kept, at)
		stays := map[string]bool{}
		for line := range strings.Lines(edit.New) {
			stays[strings.TrimSpace(line)] = true
		}
		for text := range kept {
			if !stays[text] {
				w.noteRemoval(text, at)
			}
		}
		for line := range strings.Lines(edit.New) {
			text := strings.TrimSpace(line)
			if places := w.lines[file][text]; !kept[text] && (len(places) == 0 || places[len(places)-1] != at) {
				w.lines[file][text] = append(places, at)
			}
		}
	}
}

// addParts adds the first and the last line of an edit's new text, unless the edit kept them.
func (w *Writes) addParts(file string, edit TextEdit, kept map[string]bool, at int) {
	if edit.Old == "" {
		return
	}
	if w.parts == nil {
		w.parts = map[string][]part{}
	}
	first, rest, isMore := strings.Cut(edit.New, "\n")
	parts := []part{{text: first, at: at, ends: isMore}}
	if isMore {
		parts = append(parts, part{text: rest[strings.LastIndexByte(rest, '\n')+1:], at: at, begins: true})
	}
	for _, p := range parts {
		if p.text = strings.TrimSpace(p.text); p.text != "" && !kept[p.text] {
			w.parts[file] = append(w.parts[file], p)
		}
	}
}

// FindCommand returns the last matching call of a shell or similar tool whose command contains the
// text, ignoring white space around it. Texts of less than eight bytes and matches within a word
// are regarded as coincidence.
func (w *Writes) FindCommand(text string, matches func(Write) bool) (Write, bool) {
	const least = 8
	w.order()
	text = strings.TrimSpace(text)
	if len(text) < least {
		return Write{}, false
	}
	isWord := func(c byte) bool { return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
	for _, c := range slices.Backward(w.shell) {
		at := strings.Index(c.text, text)
		if at < 0 || at > 0 && isWord(c.text[at-1]) && isWord(text[0]) {
			continue
		}
		end := at + len(text)
		if (end == len(c.text) || !isWord(c.text[end]) || !isWord(text[len(text)-1])) && matches(c.Write) {
			return c.Write, true
		}
	}
	return Write{}, false
}

// order sorts the calls of several transcripts by time. If a time is unknown, they stay in the
// order in which they were read.
func (w *Writes) order() {
	if !w.isMixed || w.isUntimed {
		return
	}
	w.isMixed = false
	slices.SortStableFunc(w.shell, func(a, b shellCommand) int { return a.at.Compare(b.at) })
	order := make([]int, len(w.calls)) // the former indexes
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return w.calls[a].at.Compare(w.calls[b].at) })
	place, calls := make([]int, len(order)), make([]Write, len(order))
	for now, was := range order {
		place[was], calls[now] = now, w.calls[was]
	}
	w.calls = calls
	for call, at := range w.byCall {
		w.byCall[call] = place[at]
	}
	for _, texts := range w.lines {
		for _, places := range texts {
			for i, at := range places {
				places[i] = place[at]
			}
			slices.Sort(places)
		}
	}
	for _, parts := range w.parts {
		for i := range parts {
			parts[i].at = place[parts[i].at]
		}
		slices.SortStableFunc(parts, func(a, b part) int { return a.at - b.at })
	}
	for _, removals := range w.gone {
		for i := range removals {
			removals[i].at = place[removals[i].at]
		}
		slices.SortStableFunc(removals, func(a, b removal) int { return a.at - b.at })
	}
}

// FindWriter returns the call that wrote a line, if that is certain. It searches as FindPart does,
// but a tool that wrote the whole file may only have repeated the line: such a call counts only if
// no matching shell command or call of another agent has the text. A line that was written earlier,
// in a file from which a call has since removed it, was only moved: its first writer counts.
func (w *Writes) FindWriter(names []string, text string, matches func(Write) bool) (Write, bool) {
	found, ok := w.findWriter(names, text, matches)
	if ok && w.isUntimed { // it is unknown which of two agents was first
		_, other := w.Find(names, text, func(c Write) bool { return c.Subagent != found.Subagent && matches(c) })
		ok = !other
	}
	if !ok {
		return found, false
	}
	// The call may only have moved the line, even within its file.
	text = strings.TrimSpace(text)
	if linediff.Letters(text) < linediff.LeastMoved {
		return found, true
	}
	until := w.byCall[found.Call]
	for _, r := range slices.Backward(w.gone[text]) {
		if r.at > until || w.calls[r.at].failed {
			continue
		}
		for _, at := range slices.Backward(w.lines[r.path][text]) {
			if c := w.calls[at]; at < r.at && !c.failed && matches(c) {
				found, until = c, at
				break
			}
		}
	}
	return found, true
}

func (w *Writes) findWriter(names []string, text string, matches func(Write) bool) (Write, bool) {
	if found, ok := w.FindPart(names, text, func(c Write) bool { return !c.Whole && matches(c) }); ok {
		return found, true
	}
	if _, ok := w.FindCommand(text, matches); ok {
		return Write{}, false
	}
	last, ok := w.Find(names, text, matches)
	if ok {
		_, other := w.Find(names, text, func(c Write) bool { return c.Subagent != last.Subagent && matches(c) })
		ok = !other
	}
	return last, ok
}

// FindPart is like Find, but also finds the last call whose edit put text into the middle of the
// line.
func (w *Writes) FindPart(names []string, text string, matches func(Write) bool) (Write, bool) {
	if found, ok := w.Find(names, text, matches); ok {
		return found, true
	}
	w.order()
	text = strings.TrimSpace(text)
	last := -1
	for name := range w.given(names) {
		for _, p := range slices.Backward(w.parts[name]) {
			isIn := p.at > last && strings.Contains(text, p.text) &&
				(!p.begins || strings.HasPrefix(text, p.text)) && (!p.ends || strings.HasSuffix(text, p.text))
			if isIn && !w.calls[p.at].failed && matches(w.calls[p.at]) {
				last = p.at
				break
			}
		}
	}
	if last < 0 {
		return Write{}, false
	}
	return w.calls[last], true
}

// relative returns a path relative to Root or else to cwd, unchanged if it is below neither.
func (w *Writes) relative(given, cwd string) string {
	for _, root := range []string{w.Root, cwd} {
		if rest, below := strings.CutPrefix(given, strings.TrimSuffix(root, "/")+"/"); root != "" && below {
			return rest
		}
	}
	return given
}

// given yields the paths passed to tools for a file with one of these names.
func (w *Writes) given(names []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, file := range names {
			for _, name := range w.names[path.Base(file)] {
				if isFile(name, file) && !yield(name) {
					return
				}
			}
		}
	}
}

// isFile reports whether a path passed to a tool is that of a file, given from the root.
func isFile(given, file string) bool {
	return given == file || path.IsAbs(given) && strings.HasSuffix(given, "/"+file)
}

// Find returns the last matching call that wrote a line with the text, ignoring white space around
// it, to a file with one of these paths from the root. An absolute path, as of another machine,
// counts if it ends with one of them.
func (w *Writes) Find(names []string, text string, matches func(Write) bool) (Write, bool) {
	w.order()
	text = strings.TrimSpace(text)
	last := -1
	for name := range w.given(names) {
		for _, at := range slices.Backward(w.lines[name][text]) {
			if at > last && !w.calls[at].failed && matches(w.calls[at]) {
				last = at
				break
			}
		}
	}
	if last < 0 {
		return Write{}, false
	}
	return w.calls[last], true
}

// ReadEnd adds the lines of a transcript file from line first up to the cursor to, but at most the
// limit bytes before it. If to.Lines is 0, the lines are counted, and nothing is added unless all
// bytes before the cursor fit into limit.
func (w *Writes) ReadEnd(ctx context.Context, name string, to Cursor, first int, limit int64) (err error) {
	f, info, err := open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end := min(to.Offset, info.Size())
	size := min(limit, firstRead)
	if to.Lines == 0 {
		size = limit
	}
	var data []byte
	var begin, line int
	for {
		if data, begin, line, err = readLast(f, end, size, to.Lines, first); err != nil {
			return err
		}
		if line <= first || size >= min(limit, end) {
			break
		}
		size = min(limit, 4*size) //nolint:mnd // a few times
	}
	for n := line; begin < len(data) && ctx.Err() == nil; n++ {
		row := data[begin:]
		if cut := bytes.IndexByte(row, '\n'); cut >= 0 {
			row = row[:cut]
		}
		w.AddLine(row, n)
		begin += len(row) + 1
	}
	return ctx.Err()
}

// firstRead is the number of bytes read first from the end of a transcript, before it is known how
// many are needed.
const firstRead = 64 << 10

// readLast reads the size bytes of a file before end, or less at its beginning. lines is the number
// of lines before end; if it is 0 and the whole file is read, they are counted. It returns the
// index in data and the number of the first whole line that is not before line first.
func readLast(f io.ReaderAt, end, size int64, lines, first int) (data []byte, begin, line int, err error) {
	from := max(0, end-size)
	data = make([]byte, end-from)
	if _, err := io.ReadFull(io.NewSectionReader(f, from, end-from), data); err != nil {
		return nil, 0, 0, err
	}
	line = lines
	if line == 0 && from == 0 {
		line = bytes.Count(data, []byte{'\n'}) + 1
		if bytes.HasSuffix(data, []byte{'\n'}) {
			line--
		}
	}
	begin = len(data)
	// Search backward for the first line, or the first whole line in data.
	for at := len(bytes.TrimSuffix(data, []byte{'\n'})); line > first && at >= 0; line-- {
		cut := bytes.LastIndexByte(data[:at], '\n')
		if cut < 0 && from > 0 {
			break
		}
		begin, at = cut+1, cut
	}
	return data, begin, line, nil
}
