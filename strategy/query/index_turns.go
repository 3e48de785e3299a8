package query

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/linediff"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

const (
	// maxAnswers bounds the bytes kept of a turn's answers, maxText those of its other texts,
	// maxEnd those of the beginning and of the end of an output.
	maxAnswers = 48 << 10
	maxText    = 32 << 10
	maxEnd     = 400
	// maxCommand bounds the bytes kept of a command, maxDetail those of the description of
	// another tool use, maxPrompt those of the line of a prompt.
	maxCommand = 2000
	maxDetail  = 200
	maxPrompt  = 300
)

// turnReader assembles turns from the redacted lines of a transcript.
type turnReader struct {
	// session is the id of the session whose transcript it is.
	session string
	root    string // of the worktree, empty if it isn't known
	// here is the root of the present worktree. Some agents don't record the folder in which they work.
	here string
	// known are files of the session, relative to the root.
	known []string
	// subagent reports whether the transcript is a subagent's, all of which is one turn.
	subagent bool
	turns    []*turnDraft
	// model is the model of messages that don't name one: an agent may name it earlier.
	model string
	// title is the best title of the session among the lines, and titled its kind.
	title  string
	titled transcript.TitleKind

	// origin is the session that the lines name; began is when the transcript was begun, if its first line
	// records it.
	origin string
	began  time.Time
	cwd    string
	events transcript.Events
	heads  transcript.Heads
	calls  map[string]callPlace
	// messages are the messages of turns by id.
	messages map[string]*index.Message
	// uuids are hashes of the ids of the lines, by which a summary of this session is recognised.
	uuids map[int64]struct{}
}

// turnDraft is a turn that is being read.
type turnDraft struct {
	index.Turn

	id     string // of its first line
	origin string // of the reader at its first line
	offset int64  // of its first line, in bytes, if known
	texts  [5]strings.Builder
	files  map[string]*index.FileChange
	order  []string // the messages, by id
	// subagents are the subagents whose lines are among the turn's, by id.
	subagents map[string]*turnReader
}

// callPlace is the place of a tool use.
type callPlace struct {
	turn *turnDraft
	call int
	// edit is the change requested from an edit tool, nil for other tools.
	edit  *index.FileChange
	judge shellcmd.Judge
}

// line adds the line n, which begins at an offset in bytes.
func (t *turnReader) line(raw []byte, n int, offset int64) {
	head, ok := t.heads.Line(raw)
	if !ok {
		t.name(raw)
		return
	}
	if head.UUID != "" && !t.subagent {
		if t.uuids == nil {
			t.uuids = map[int64]struct{}{}
		}
		t.uuids[hashOf(head.UUID)] = struct{}{}
	}
	if t.cwd == "" {
		t.cwd = head.Cwd
	}
	if head.Session != "" {
		t.origin = head.Session
	}
	if n == 0 && head.Begins {
		t.began = head.Time
	}
	t.events.Subagents = t.subagent
	head.Sidechain = head.Sidechain || t.subagent
	worked := head.Sidechain
	if !head.Sidechain || t.subagent {
		worked = t.event(raw, n, offset, &head)
	}
	if head.Model != "" {
		t.model = head.Model
	}
	turn := t.current(n, offset, &head)
	if head.Sidechain && !t.subagent && head.Subagent != "" {
		known := turn.subagents[head.Subagent]
		if known == nil {
			if turn.subagents == nil {
				turn.subagents = map[string]*turnReader{}
			}
			known = &turnReader{subagent: true}
			turn.subagents[head.Subagent] = known
		}
		known.line(raw, n, offset)
	}
	// What the client writes about a session between two turns belongs to neither: a summary of
	// hooks, the context of a resumed session.
	if worked {
		turn.End = max(turn.End, n+1)
		if head.Time.After(turn.Ended) {
			turn.Ended = head.Time
		}
	}
	if turn.Branch == "" {
		turn.Branch = head.Branch
	}
	if head.MessageID == "" {
		return
	}
	tokens := index.Tokens{Input: head.Usage.Input, CacheWrite: head.Usage.CacheCreation, CacheRead: head.Usage.CacheRead, Output: head.Usage.Output}
	if m := t.messages[head.MessageID]; m != nil {
		if tokens.Output >= m.Output {
			m.Tokens = tokens
		}
		return
	}
	if t.messages == nil {
		t.messages = map[string]*index.Message{}
	}
	t.messages[head.MessageID] = &index.Message{ID: t.messageID(head.MessageID), Model: t.model, Subagent: head.Sidechain, Tokens: tokens}
	turn.order = append(turn.order, head.MessageID)
}

// name reads a title of the session from a line outside the conversation.
func (t *turnReader) name(raw []byte) {
	if !bytes.HasPrefix(raw, []byte(`{"type":`)) { // all of them begin so, and other lines may be long
		return
	}
	e, ok := t.events.Line(raw)
	if !ok || e.Kind != transcript.TitleEvent || e.Titled < t.titled {
		return
	}
	if _, isOwn := t.uuids[hashOf(e.Leaf)]; e.Titled == transcript.SummaryTitle && !isOwn {
		return
	}
	if title := oneLine(e.Said(), maxPrompt); title != "" {
		t.title, t.titled = title, e.Titled
	}
}

// current returns the running turn, which before the first prompt is one without a prompt.
func (t *turnReader) current(n int, offset int64, head *transcript.Head) *turnDraft {
	if len(t.turns) == 0 {
		t.begin(n, offset, head, "")
	}
	return t.turns[len(t.turns)-1]
}

func (t *turnReader) begin(n int, offset int64, head *transcript.Head, prompt string) {
	id := head.UUID
	if id == "" {
		id = head.Time.Format(time.RFC3339Nano) + " " + prompt
	}
	turn := &turnDraft{id: id, origin: t.origin, offset: offset, files: map[string]*index.FileChange{}}
	turn.Turn = index.Turn{Key: hashOf(id), Line: n, End: n + 1, At: head.Time, Ended: head.Time, Branch: head.Branch, Prompt: oneLine(prompt, maxPrompt)}
	turn.Marked = t.isOfOther(head)
	turn.say(index.Prompt, prompt, maxText)
	t.turns = append(t.turns, turn)
}

// isOfOther reports whether the transcript shows that a line was recorded in another session.
func (t *turnReader) isOfOther(head *transcript.Head) bool {
	return head.Copied || head.Session != "" && t.session != "" && transcript.SessionID(head.Session) != t.session || !head.Time.IsZero() && head.Time.Before(t.began)
}

// messageID returns the hash by which a message is known. An id that is unique only in a session is
// combined with the session that the lines name.
func (t *turnReader) messageID(id string) int64 {
	if transcript.IsLocalID(id) {
		id = cmp.Or(t.origin, t.session) + " " + id
	}
	return hashOf(id)
}

// hashOf returns 64 bits of a hash of a text.
func hashOf(text string) int64 {
	sum := sha256.Sum256([]byte(text))
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// say adds to a text of the turn.
func (d *turnDraft) say(kind index.Kind, text string, limit int) {
	b := &d.texts[kind]
	room := limit - b.Len()
	if text == "" || room <= 0 {
		return
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(plain.Head(text, room))
}

// event adds the event in a line of the session itself, and reports whether the line is part of
// a turn: a request, an answer, a result, or an interruption.
func (t *turnReader) event(raw []byte, n int, offset int64, head *transcript.Head) bool {
	e, ok := t.events.Line(raw)
	if !ok {
		return false
	}
	switch e.Kind {
	case transcript.UserEvent:
		prompt := e.Prompt
		switch {
		case e.Plan != "":
			prompt = "Implement the following plan:\n" + e.Plan
		case e.Command != "":
			prompt = strings.TrimSpace("/" + e.Command + " " + e.Prompt)
		}
		if prompt != "" && (!t.subagent || len(t.turns) == 0) {
			t.begin(n, offset, head, prompt)
		}
		for _, r := range e.Results {
			t.result(e, r)
		}
		return prompt != "" || len(e.Results) > 0 || e.Interrupted
	case transcript.AgentEvent:
		turn := t.current(n, offset, head)
		if len(e.Raw()) > 0 && !e.Failed {
			turn.say(index.Answer, e.Said(), maxAnswers)
		}
		for i := range e.Uses {
			t.use(turn, &e.Uses[i], n, head.Time)
		}
		for _, r := range e.Results {
			t.result(e, r)
		}
		return true
	case transcript.CompactEvent, transcript.TitleEvent, transcript.QueueEvent, transcript.LinkEvent:
	}
	return false
}

// use adds a tool use.
func (t *turnReader) use(turn *turnDraft, use *transcript.ToolUse, n int, at time.Time) {
	if _, known := t.calls[use.ID]; known && use.ID != "" {
		return
	}
	call := index.Call{Line: n, At: at, Tool: cmp.Or(use.Tool, transcript.Unreadable), Status: -1}
	place := callPlace{turn: turn, call: len(turn.Calls)}
	call.Text, call.Command = describe(use)
	if call.Command {
		place.judge = shellcmd.Split(call.Text).Judge()
		turn.say(index.Command, call.Text, maxText)
	}
	if name, texts := use.Written(); name != "" {
		call.Text = t.relative(name)
		added, removed := linesOf(use, texts)
		place.edit = &index.FileChange{Path: call.Text, Added: added, Removed: removed, Edited: true}
	} else if !call.Command {
		call.Text = t.relative(call.Text)
	}
	turn.Calls = append(turn.Calls, call)
	if place.edit != nil {
		turn.edited(place.edit, 1)
	}
	if use.ID == "" {
		return
	}
	if t.calls == nil {
		t.calls = map[string]callPlace{}
	}
	t.calls[use.ID] = place
}

// describe returns the command of a tool use, or else the part of its input that describes it.
func describe(use *transcript.ToolUse) (text string, isCommand bool) {
	found := map[string]string{}
	for key, value := range use.Input.Members() {
		switch key {
		case "command":
			if command := value.Text(); command != "" {
				return plain.Head(command, maxCommand), true
			}
		case "file_path", "notebook_path", "path", "pattern", "url", "query", "description", "prompt", "skill":
			found[key] = value.Text()
		}
	}
	for _, key := range []string{"file_path", "notebook_path", "pattern", "path", "url", "query", "description", "skill", "prompt"} {
		if found[key] != "" {
			return oneLine(found[key], maxDetail), false
		}
	}
	return "", false
}

// linesOf counts the lines that an edit adds and removes.
func linesOf(use *transcript.ToolUse, texts []string) (added, removed int) {
	count := func(before, after string) {
		const most = 64 << 10
		if len(before)+len(after) > most {
			added, removed = added+linediff.Count(after), removed+linediff.Count(before)
			return
		}
		a, r := linediff.Totals(linediff.Compare(before, after, linediff.Quick))
		added, removed = added+a, removed+r
	}
	if edits := use.Input.Member("edits"); edits != nil {
		for edit := range edits.Items() {
			count(edit.Member("old_string").Text(), edit.Member("new_string").Text())
		}
		return added, removed
	}
	count(use.Input.Member("old_string").Text(), strings.Join(texts, "\n"))
	return added, removed
}

// edited adds a change to the turn's files, or with a sign of -1 subtracts it.
func (d *turnDraft) edited(change *index.FileChange, sign int) {
	f := d.files[change.Path]
	if f == nil {
		f = &index.FileChange{Path: change.Path, Edited: true}
		d.files[change.Path] = f
	}
	f.Added += sign * change.Added
	f.Removed += sign * change.Removed
	if sign < 0 && f.Added <= 0 && f.Removed <= 0 {
		delete(d.files, change.Path)
	}
}

// result adds the result of a tool use.
func (t *turnReader) result(e *transcript.Event, r transcript.ToolResult) {
	place, known := t.calls[r.Of]
	if !known {
		return
	}
	delete(t.calls, r.Of)
	call := &place.turn.Calls[place.call]
	if place.edit != nil && r.Failed {
		place.turn.edited(place.edit, -1)
	} else if place.edit != nil {
		place.turn.patched(place.edit, e.Detail().Member("structuredPatch"))
	}
	if !call.Command && !r.Failed {
		call.Outcome = index.Passed
		return
	}
	output := r.Content.Said()
	call.Outcome, call.Status = index.Unknown, -1
	if !r.Failed {
		call.Outcome = map[recall.Outcome]index.Outcome{recall.Passed: index.Passed, recall.Failed: index.Failed}[place.judge.Outcome(output)]
		call.Status = 0
	} else if r.Reply() == "" && !strings.HasPrefix(output, "The user doesn't want") {
		call.Outcome = index.Failed
		if status, _, ok := transcript.ExitStatus(output); ok {
			call.Status = status
		}
	}
	if call.Command || call.Outcome == index.Failed {
		if len(output) > 2*maxEnd { // its beginning and its end
			output = plain.Head(output, maxEnd) + "\n…\n" + strings.ToValidUTF8(output[len(output)-maxEnd:], "")
		}
		place.turn.say(index.Output, output, maxText)
	}
}

// patched corrects the line counts of an edit with the patch that the agent recorded as its
// result.
func (d *turnDraft) patched(change *index.FileChange, patch transcript.Value) {
	added, removed, lines := 0, 0, 0
	for hunk := range patch.Items() {
		for line := range hunk.Member("lines").Items() {
			lines++
			switch text := line.Text(); {
			case strings.HasPrefix(text, "+"):
				added++
			case strings.HasPrefix(text, "-"):
				removed++
			}
		}
	}
	if lines > 0 {
		f := d.files[change.Path]
		f.Added += added - change.Added
		f.Removed += removed - change.Removed
	}
}

// relative returns a path relative to the root of the worktree, or to the working directory. If the
// root isn't known, it is the directory of a known file that has the working directory in it.
func (t *turnReader) relative(name string) string {
	longest := ""
	for _, file := range t.known {
		root, found := strings.CutSuffix(name, "/"+file)
		if found && t.root == "" && len(file) > len(longest) && (t.cwd == root || strings.HasPrefix(t.cwd, root+"/")) {
			longest = file
		}
	}
	if longest != "" {
		return longest
	}
	for _, dir := range []string{t.root, t.cwd, t.here} {
		if rest, below := strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/"); below && dir != "" && rest != "" {
			return path.Clean(rest)
		}
	}
	return name
}

// all returns the texts of the turn as one.
func (d *turnDraft) all() string {
	var texts []string
	for _, text := range d.Texts {
		if text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// finished returns the turns, without those that have neither texts nor calls.
func (t *turnReader) finished() []*turnDraft {
	t.turns = slices.DeleteFunc(t.turns, func(d *turnDraft) bool {
		return len(d.order)+len(d.Calls)+d.texts[index.Prompt].Len()+d.texts[index.Answer].Len() == 0
	})
	for _, d := range t.turns {
		d.Messages, d.Files = nil, nil
		for _, id := range d.order {
			d.Messages = append(d.Messages, *t.messages[id])
		}
		for _, f := range d.files {
			f.Added, f.Removed = max(f.Added, 0), max(f.Removed, 0)
			d.Files = append(d.Files, *f)
		}
		slices.SortFunc(d.Files, func(a, b index.FileChange) int { return strings.Compare(a.Path, b.Path) })
		for kind := range d.texts {
			d.Texts[kind] = d.texts[kind].String()
		}
	}
	return t.turns
}

// oneLine returns the beginning of a text in one line.
func oneLine(text string, limit int) string {
	return plain.Shorten(strings.Join(strings.Fields(plain.Clean(plain.Head(text, 4*limit))), " "), limit)
}
