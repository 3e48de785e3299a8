package importing

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/sessionfile"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// past is what the links of a session depend on: its turns, the lines that its calls wrote, and the commits
// that its transcript shows. It holds fingerprints of lines, as there may be many.
type past struct {
	sessionfile.File

	lines int // of the transcript
	// own is the first line that is not a copy of another session's.
	own   int
	turns []turn
	calls []call
	// texts are the lines that the calls wrote, by the absolute path of the file, in the order of the calls.
	texts    map[string][]writtenLine
	shown    []shownCommit
	messages []message
	// touched holds for each file that calls wrote, by its path from the root, the line of the last of them.
	touched map[string]int
	branch  string
	model   string
	// first and last are the times of the first and last line that have one.
	first, last time.Time
	// root is the folder of the repository in which the session was at work.
	root string
}

// turn is a request of a person.
type turn struct {
	line  int
	at    time.Time
	title string // not redacted
}

// call is a call that wrote lines.
type call struct {
	id, subagent string
	line         int // of the call in the session's transcript, or the beginning of its turn
	turn         int // index in turns, or checkpoint.NoTurn
	at           time.Time
}

// writtenLine is a line that a call wrote.
type writtenLine struct {
	print, loose uint32 // fingerprints: see loosePrint
	letters      uint16
	// begins reports that the line doesn't follow the one before it in the file, mayRepeat that the call wrote
	// the whole file, which may have had the line before.
	begins, mayRepeat bool
	call              int32
}

// loosePrint returns the fingerprint of the letters and digits of a line, which formatters leave, 0 if there
// are none.
func loosePrint(text string) uint32 {
	letters := make([]byte, 0, len(text))
	for i := range len(text) {
		if c := text[i]; c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' {
			letters = append(letters, c)
		}
	}
	if len(letters) == 0 {
		return 0
	}
	return checkpoint.Print(letters)
}

// shownCommit is a commit that the transcript shows: the result of a command that made it, or that shows it.
type shownCommit struct {
	id      string // abbreviated, empty if only the message is known
	subject string // empty if only the id is known
	// isListed reports that the command only showed the commit.
	isListed bool
	line     int
	// begun and at are the times of the command and of its result.
	begun, at time.Time
}

// message is a message of a model.
type message struct {
	id    uint64
	line  int
	usage transcript.Usage
	isSub bool
	// isMarked reports that its line names another session, from which it was copied.
	isMarked bool
}

// scanner reads the transcripts of a session.
type scanner struct {
	*past

	events transcript.Events
	// subagent is the id of the subagent whose transcript is read, inner that of one whose message is in the
	// transcript of the session.
	subagent, inner string
	n               int
	open            map[string]openCall
	known           map[string]bool // calls
	index           map[uint64]int  // of messages
	// present holds the lines of files as far as calls wrote them, for files whose former content no result
	// shows.
	present map[string]map[uint32]bool
	// committed is the time of the last command that may have made a commit.
	committed time.Time
	results   bool
	cwd       string
	at        time.Time
}

// openCall is a call without a result yet.
type openCall struct {
	edits   []transcript.TextEdit
	path    string // absolute if it is known
	isWhole bool
	command string
	line    int
	at      time.Time
}

// scan reads the transcripts of a session and of its subagents.
func scan(ctx context.Context, f sessionfile.File) (*past, error) {
	s := scanner{past: &past{File: f, texts: map[string][]writtenLine{}}, known: map[string]bool{}, index: map[uint64]int{}, present: map[string]map[uint32]bool{}}
	if err := s.read(ctx, f); err != nil {
		return nil, err
	}
	s.lines = s.n
	if s.first.IsZero() { // its lines have no times
		s.first, s.last = f.Start, f.End
	}
	agents, err := f.Subagents(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range agents {
		s.subagent = a.ID
		if err := s.read(ctx, a); err != nil {
			return nil, err
		}
	}
	return s.past, nil
}

func (s *scanner) read(ctx context.Context, f sessionfile.File) error {
	s.n, s.open, s.results, s.cwd, s.at = 0, map[string]openCall{}, false, f.Dir, f.Start
	s.events.Subagents = true
	err := f.Lines(ctx, func(line []byte) error {
		s.line(line)
		s.n++
		return nil
	})
	if err == nil && !s.results { // a transcript without results of calls
		for _, id := range slices.SortedFunc(maps.Keys(s.open), func(a, b string) int { return s.open[a].line - s.open[b].line }) {
			s.wrote(id, s.open[id], nil)
		}
	}
	return err
}

// line processes a line of the transcript.
func (s *scanner) line(line []byte) {
	if bytes.Contains(line, []byte(`"agent_progress"`)) {
		s.progress(line)
		return
	}
	if e, ok := s.events.Line(line); ok {
		s.event(e, line)
	}
}

// progress processes a line with a message of a subagent: some versions of Claude Code write them to the
// transcript of the session.
func (s *scanner) progress(line []byte) {
	data := transcript.Value(line).Member("data")
	message := data.Member("message")
	if data.Member("type").Text() != "agent_progress" || len(message) == 0 {
		return
	}
	former := s.inner
	s.inner = data.Member("agentId").Text()
	if e, ok := s.events.Line(message); ok {
		e.Sidechain = true
		s.event(e, message)
	}
	s.inner = former
}

// event processes an event of a line.
func (s *scanner) event(e *transcript.Event, line []byte) {
	if e.Cwd != "" {
		s.cwd = e.Cwd
	}
	s.time(line)
	isMain := s.subagent == "" && !e.Sidechain
	if isMain && len(e.Branch) > 0 {
		s.branch = transcript.Unquoted(e.Branch)
	}
	if isMain && e.IsPrompt() {
		s.turns = append(s.turns, turn{line: s.n, at: s.at, title: strings.Clone(checkpoint.FirstPrompt(e.Title()))})
	}
	if e.MessageID != "" {
		s.count(e, isMain, line)
	}
	for i := range e.Uses {
		s.use(&e.Uses[i])
	}
	for i := range e.Results {
		s.result(e, &e.Results[i])
	}
}

// time sets the time of the present line, if it has one.
func (s *scanner) time(line []byte) {
	at := transcript.LastTime(line)
	if at.IsZero() {
		return
	}
	s.at = at
	if s.subagent != "" {
		return
	}
	if s.first.IsZero() || at.Before(s.first) {
		s.first = at
	}
	if at.After(s.last) {
		s.last = at
	}
}

// count adds the tokens of an answer. The lines of a message repeat its usage; the record with the most
// output counts.
func (s *scanner) count(e *transcript.Event, isMain bool, line []byte) {
	if isMain && e.Model != "" {
		s.model = strings.Clone(e.Model)
	}
	id := tracking.MessageKey(e.MessageID)
	i, known := s.index[id]
	switch {
	case !known:
		s.index[id] = len(s.messages)
		named := transcript.Value(line).Member("sessionId").Text()
		s.messages = append(s.messages, message{id: id, line: s.lineOf(), usage: e.Usage, isSub: !isMain, isMarked: named != "" && named != s.ID})
	case e.Usage.Output >= s.messages[i].usage.Output:
		s.messages[i].usage = e.Usage
	}
}

// lineOf returns the line of the session's transcript at which the present line of a transcript belongs: for
// a subagent's, the beginning of the turn.
func (s *scanner) lineOf() int {
	if s.subagent == "" {
		return s.n
	}
	if t := s.turnOf(); t != checkpoint.NoTurn {
		return s.turns[t].line
	}
	return 0
}

// turnOf returns the turn of the present line.
func (s *scanner) turnOf() int {
	if s.subagent == "" {
		return len(s.turns) - 1
	}
	last := checkpoint.NoTurn
	for i, t := range s.turns {
		if !t.at.After(s.at) {
			last = i
		}
	}
	return last
}

// use notes a call of a tool that may write files.
func (s *scanner) use(use *transcript.ToolUse) {
	if use.ID != "" && s.known[use.ID] {
		return // the same message, written again
	}
	s.known[use.ID] = true
	c := openCall{line: s.lineOf(), at: s.at}
	given, edits := use.Edits()
	switch {
	case given != "" && len(edits) > 0:
		c.edits, c.path = edits, s.absolute(given)
		c.isWhole = !slices.ContainsFunc(edits, func(e transcript.TextEdit) bool { return e.Old != "" })
	case transcript.IsCommand(use.Tool):
		if c.command = use.Input.Member("command").Text(); c.command == "" {
			return
		}
	default:
		return
	}
	s.open[use.ID] = c
}

// absolute returns the path of a file that was passed to a tool.
func (s *scanner) absolute(given string) string {
	given = strings.ReplaceAll(given, `\`, "/")
	if !path.IsAbs(given) && s.cwd != "" {
		return path.Join(s.cwd, given)
	}
	return path.Clean(given)
}

// result processes the result of a call.
func (s *scanner) result(e *transcript.Event, r *transcript.ToolResult) {
	s.results = true
	c, known := s.open[r.Of]
	if !known {
		return
	}
	delete(s.open, r.Of)
	detail := e.Detail()
	if c.command != "" {
		s.ran(r, c, detail)
		return
	}
	if !r.Failed {
		s.wrote(r.Of, c, detail)
	}
}

// ran processes the result of a command.
func (s *scanner) ran(r *transcript.ToolResult, c openCall, detail transcript.Value) {
	if s.mayCommit(c.command) {
		said := r.Content.Said()
		if said == "" {
			said = detail.Member("stdout").Text()
		}
		s.shows(c, r.Failed, said, detail)
	}
	if r.Failed {
		return
	}
	id := -1
	begin := func() int32 {
		if id < 0 {
			id = s.addCall(r.Of, c)
		}
		return int32(id)
	}
	shown := false
	for file := range detail.Member("bashEditDiff").Member("files").Items() {
		if name := file.Member("filePath").Text(); name != "" {
			shown = true
			s.patched(s.absolute(name), file.Member("hunks"), begin)
		}
	}
	if !shown {
		s.wroteByShell(c.command, begin)
	}
}

// wroteByShell adds the lines that a shell command writes, as far as the command has them.
func (s *scanner) wroteByShell(command string, begin func() int32) {
	for _, w := range shellWrites(command) {
		file := s.absolute(w.path)
		kept := map[uint32]bool{}
		if w.isWhole {
			kept = s.present[file]
			now := map[uint32]bool{}
			for line := range strings.Lines(w.text) {
				now[checkpoint.Print([]byte(line))] = true
			}
			s.present[file] = now
		}
		s.add(file, strings.Split(w.text, "\n"), kept, w.isWhole, begin)
	}
	for _, m := range shellMoves(command) {
		from, to := s.absolute(m[0]), s.absolute(m[1])
		if lines := s.texts[from]; len(lines) > 0 && from != to {
			s.texts[to] = append(s.texts[to], lines...)
			s.present[to] = s.present[from]
		}
	}
}

// mayCommit reports whether a command may make a commit and show its id.
func (s *scanner) mayCommit(command string) bool {
	return strings.Contains(command, "git") || strings.Contains(command, "commit")
}

var (
	// madeCommit matches the line with which git reports a new commit, listedCommit one of git log.
	madeCommit   = regexp.MustCompile(`(?m)^\[(?:[^\]\s]+|detached HEAD)(?: \(root-commit\))? ([0-9a-f]{7,64})\] (.*?)\r?$`)
	listedCommit = regexp.MustCompile(`(?m)^(?:commit )?([0-9a-f]{7,64})\b`)
	// commits and lists match commands that make a commit, and that show the last one.
	commits = regexp.MustCompile(`\bgit(?:\s+-[cC]\s+\S+|\s+--\S+)*\s+commit\b`)
	lists   = regexp.MustCompile(`\bgit(?:\s+-[cC]\s+\S+|\s+--\S+)*\s+(?:log|show|rev-parse)\b`)
	// messageOf matches the argument of -m: a word, or a document in the command.
	messageOf = regexp.MustCompile(`\s-[a-z]*m\s*("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"';&|-][^\s"';&|]*)`)
	document  = regexp.MustCompile(`^\$\(cat <<-?\s*['"]?\w+['"]?\s*\n\s*([^\n]+)`)
)

// listedAfter is how long after a command that may have made a commit the agent shows it.
const listedAfter = 5 * time.Minute

// shows notes the commits that the result of a command shows: those that git reports as new, that the agent's
// record of it names, or that git log lists; else one with the message that was passed to a quiet git commit.
func (s *scanner) shows(c openCall, failed bool, said string, detail transcript.Value) {
	one := shownCommit{line: s.lineOf(), begun: c.at, at: s.at}
	if commits.MatchString(c.command) {
		s.committed = s.at
	}
	found := false
	add := func(id, subject string) {
		one.id, one.subject = strings.Clone(id), strings.Clone(subject)
		s.shown = append(s.shown, one)
		found = true
	}
	for _, m := range madeCommit.FindAllStringSubmatch(said, -1) {
		add(m[1], m[2])
	}
	const least = 7 // digits of an abbreviated id
	sha := detail.Member("gitOperation").Member("commit").Member("sha").Text()
	if !found && len(sha) >= least && strings.Trim(sha, "0123456789abcdef") == "" {
		add(sha, "")
	}
	if found || failed {
		return
	}
	if s.at.Sub(s.committed) < listedAfter && lists.MatchString(c.command) {
		if m := listedCommit.FindStringSubmatch(said); m != nil {
			one.isListed = true
			add(m[1], "")
			one.isListed = false
		}
	}
	if m := messageOf.FindStringSubmatch(c.command); m != nil && commits.MatchString(c.command) {
		text := unquote(m[1])
		if d := document.FindStringSubmatch(text); d != nil {
			text = d[1]
		}
		if subject, _, _ := strings.Cut(text, "\n"); strings.TrimSpace(subject) != "" {
			add("", strings.TrimSpace(subject))
		}
	}
}

// wrote adds the lines that a call of an edit tool wrote: those that its recorded patch adds, else those of
// its new texts that the former ones, or the former file, don't have.
func (s *scanner) wrote(id string, c openCall, detail transcript.Value) {
	index := -1
	begin := func() int32 {
		if index < 0 {
			index = s.addCall(id, c)
		}
		return int32(index)
	}
	if s.patched(c.path, detail.Member("structuredPatch"), begin) {
		return
	}
	kept := map[uint32]bool{}
	original := detail.Member("originalFile")
	for line := range strings.Lines(original.Text()) {
		kept[checkpoint.Print([]byte(line))] = true
	}
	if c.isWhole && len(original) == 0 { // what it had is only known from earlier calls
		kept = s.present[c.path]
	}
	now := map[uint32]bool{}
	for _, edit := range c.edits {
		if edit.Old != "" {
			kept = map[uint32]bool{}
			for line := range strings.Lines(edit.Old) {
				was := checkpoint.Print([]byte(line))
				kept[was] = true
				delete(s.present[c.path], was)
			}
		}
		s.add(c.path, strings.Split(edit.New, "\n"), kept, c.isWhole && len(original) == 0, begin)
		for line := range strings.Lines(edit.New) {
			now[checkpoint.Print([]byte(line))] = true
		}
	}
	if c.isWhole || s.present[c.path] == nil {
		s.present[c.path] = now
		return
	}
	maps.Copy(s.present[c.path], now)
}

// patched adds the lines that the hunks of a recorded patch add. It returns false if there are none.
func (s *scanner) patched(file string, hunks transcript.Value, begin func() int32) bool {
	some := false
	for hunk := range hunks.Items() {
		begins := true
		for line := range hunk.Member("lines").Items() {
			some = true
			text := line.Text()
			switch {
			case strings.HasPrefix(text, "+"):
				s.addLine(file, text[1:], writtenLine{begins: begins, call: begin()})
				begins = false
			case !strings.HasPrefix(text, "-"):
				begins = true
			}
		}
	}
	return some
}

// add adds the lines of a text without those in kept.
func (s *scanner) add(file string, lines []string, kept map[uint32]bool, mayRepeat bool, begin func() int32) {
	begins := true
	for i, line := range lines {
		if i == len(lines)-1 && line == "" || kept[checkpoint.Print([]byte(line))] {
			begins = true
			continue
		}
		s.addLine(file, line, writtenLine{begins: begins, mayRepeat: mayRepeat, call: begin()})
		begins = false
	}
}

func (s *scanner) addLine(file, text string, l writtenLine) {
	const most = 1<<16 - 1
	l.print, l.loose = checkpoint.Print([]byte(text)), loosePrint(text)
	l.letters = uint16(min(attribution.Identifying(text), most))
	s.texts[file] = append(s.texts[file], l)
}

// addCall adds a call that wrote lines, whose result is in the present line.
func (s *scanner) addCall(id string, c openCall) int {
	at := s.at
	if at.IsZero() {
		at = c.at
	}
	s.calls = append(s.calls, call{id: id, subagent: cmp.Or(s.subagent, s.inner), line: c.line, turn: s.turnOf(), at: at})
	return len(s.calls) - 1
}

// tokens returns the sum of the usage of messages.
func tokens(messages []message) (sum session.Tokens) {
	for _, m := range messages {
		used := session.Tokens{Input: m.usage.Input, CacheCreation: m.usage.CacheCreation, CacheRead: m.usage.CacheRead, Output: m.usage.Output, Calls: 1}
		if m.isSub {
			sum = sum.Plus(session.Tokens{Subagents: &used})
		} else {
			sum = sum.Plus(used)
		}
	}
	return sum
}
