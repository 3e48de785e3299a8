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

// Write is a call of an edit tool that wrote something to a file.
type Write struct {
	// Path is the file as the tool was given it, relative to the root where it is below that.
	Path string
	// Call is the id of the tool use, Subagent that of the subagent, empty for the main agent.
	Call, Subagent string
	// Line is the number of its line in its transcript, from 0.
	Line int
	// Whole reports that the tool wrote the whole file, also lines that were there before.
	Whole bool

	at     time.Time // zero if it isn't known
	failed bool
}

// shellCommand is a call of a tool that can change any file.
type shellCommand struct {
	Write

	text string
}

// Writes collects what the edit tools of transcripts wrote, by the text of each line.
// Lines that an edit only repeats are left out. The zero value has nothing.
type Writes struct {
	// Root is the project's directory, empty if it isn't known; then it is the directory that
	// the transcript's lines name.
	Root string
	// Subagent is the id of the subagent whose transcript's lines follow, empty for the main
	// agent's.
	Subagent string

	events Events
	calls  []Write
	byCall map[string]int              // places in calls
	lines  map[string]map[string][]int // by path and trimmed text: places in calls, in order
	names  map[string][]string         // paths by their last part
	parts  map[string][]part           // by path: what edits put into lines, in order
	gone   map[string][]removal        // by trimmed text: the calls that removed the line
	shell  []shellCommand
	asked  []int // lines of the main agent's prompts, in order
	// isMixed reports that calls of subagents were read and are not in the order of time yet,
	// isUntimed that it isn't known.
	isMixed, isUntimed bool
}

// part is the beginning or the end of what an edit wrote, which may be in the middle of a line.
type part struct {
	text string
	at   int // the place in calls
	// begins and ends report that the part reaches to the beginning or the end of its line.
	begins, ends bool
}

// removal is a line that a call removed from a file.
type removal struct {
	path string
	at   int // the place in calls
}

// Line takes in the line n of a transcript.
func (w *Writes) Line(raw []byte, n int) {
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
			w.use(e, &e.Uses[i], Write{Line: n, Subagent: by, at: at})
		}
	}
	for _, r := range e.Results {
		at, known := w.byCall[r.Of]
		if !known {
			continue
		}
		w.calls[at].failed = w.calls[at].failed || r.Failed
		if w.calls[at].Whole {
			w.dropRepeated(at, e.Detail().Member("originalFile").Text())
		}
	}
}

// dropRepeated leaves out the lines that a call which wrote the whole file found there.
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

// noteRemoval notes that a call removed a line from its file.
func (w *Writes) noteRemoval(text string, at int) {
	if w.gone == nil {
		w.gone = map[string][]removal{}
	}
	w.gone[text] = append(w.gone[text], removal{w.calls[at].Path, at})
}

// IsBehindNextPrompt reports whether a second prompt is between a line of the main agent's
// transcript at which a turn begins and a call's line, as far as the transcript was read.
func (w *Writes) IsBehindNextPrompt(begin, call int) bool {
	first, _ := slices.BinarySearch(w.asked, begin)
	return first+1 < len(w.asked) && w.asked[first+1] <= call
}

// use takes in a call, which has its place already.
func (w *Writes) use(e *Event, use *ToolUse, call Write) {
	given, edits := use.Edits()
	call.Call = use.ID
	w.isMixed, w.isUntimed = w.isMixed || call.Subagent != "", w.isUntimed || call.at.IsZero()
	if effectOf(use.Tool) == effectAny && !IsTask(use.Tool) {
		w.shell = append(w.shell, shellCommand{call, use.Input.Member("command").Text()})
	}
	if given == "" || len(edits) == 0 {
		return
	}
	if _, known := w.byCall[use.ID]; known && use.ID != "" {
		return // the same message written once more
	}
	if w.byCall == nil {
		w.byCall, w.lines, w.names = map[string]int{}, map[string]map[string][]int{}, map[string][]string{}
	}
	at := len(w.calls)
	call.Path = w.relative(given, e.Cwd)
	call.Whole = !slices.ContainsFunc(edits, func(edit TextEdit) bool { return edit.Old != "" })
	w.calls = append(w.calls, call)
	w.byCall[use.ID] = at
	file := w.calls[at].Path
	if w.lines[file] == nil {
		w.lines[file] = map[string][]int{}
		w.names[path.Base(file)] = append(w.names[path.Base(file)], file)
	}
	for _, edit := range edits {
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

// addParts adds the first and the last line of what an edit wrote, unless it kept them.
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

// FindCommand returns the last of the calls that match of a tool other than an edit tool
// whose command has the text, white space around it aside. A text of less than eight bytes, or
// in the middle of a word, is there by chance.
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

// order puts the calls of several transcripts in the order of time. Where that isn't known
// they stay in the order in which they were read.
func (w *Writes) order() {
	if !w.isMixed || w.isUntimed {
		return
	}
	w.isMixed = false
	slices.SortStableFunc(w.shell, func(a, b shellCommand) int { return a.at.Compare(b.at) })
	order := make([]int, len(w.calls)) // the former places
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

// FindWriter returns the call that wrote a line, as far as that is certain: as FindPart does, but
// a tool that wrote the whole file may only have repeated the line. Such a call counts if no
// other call that matches, of an edit tool or a shell, has the text. A line that was written
// before in a file from which a call removed it meanwhile was only moved: it is the first writer's.
func (w *Writes) FindWriter(names []string, text string, matches func(Write) bool) (Write, bool) {
	found, ok := w.findWriter(names, text, matches)
	if ok && w.isUntimed { // then it isn't known which of two agents was first
		_, other := w.Find(names, text, func(c Write) bool { return c.Subagent != found.Subagent && matches(c) })
		ok = !other
	}
	if !ok {
		return found, false
	}
	// The line may have been moved, be it within its file, to where the call put it.
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

// FindPart is Find, but also finds the last call whose edit put something into the middle of
// the line.
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

// relative returns a path as it is seen from the root.
func (w *Writes) relative(given, cwd string) string {
	for _, root := range []string{w.Root, cwd} {
		if rest, below := strings.CutPrefix(given, strings.TrimSuffix(root, "/")+"/"); root != "" && below {
			return rest
		}
	}
	return given
}

// given yields the paths that tools were given of a file with these names.
func (w *Writes) given(names []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, file := range names {
			for _, name := range w.names[path.Base(file)] {
				isFile := name == file || path.IsAbs(name) && strings.HasSuffix(name, "/"+file)
				if isFile && !yield(name) {
					return
				}
			}
		}
	}
}

// Find returns the last of the calls that match which wrote a line of the text to a file
// with one of these paths from the root, white space around the text aside. Files that were
// written on another machine count if their paths end with it.
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

// ReadEnd takes in the lines of a transcript file from the line first on up to a cursor, but
// not more than its last limit bytes. A cursor without Lines is one into a file of which all
// is taken in.
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
		w.Line(row, n)
		begin += len(row) + 1
	}
	return ctx.Err()
}

// firstRead is how much of the end of a transcript is read before it is known how far back its
// lines go.
const firstRead = 64 << 10

// readLast reads the last size bytes of a file before end, which is behind as many lines as lines
// has, or all where that is 0. It returns the place and the number of the first whole line that it has, of those
// from the line first on.
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
	// Backward to the first line, or to the first whole one of what was read.
	for at := len(bytes.TrimSuffix(data, []byte{'\n'})); line > first && at >= 0; line-- {
		cut := bytes.LastIndexByte(data[:at], '\n')
		if cut < 0 && from > 0 {
			break
		}
		begin, at = cut+1, cut
	}
	return data, begin, line, nil
}
