package transcript

import (
	"bytes"
	"time"

	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

// entry holds the used fields of a line. Its slices point into the line. All readers of this package
// parse lines with it; each keeps one for all its lines, so that its buffers are reused.
type entry struct {
	// line is the line in Claude Code's form.
	line      []byte
	kind      []byte
	subtype   []byte
	uuid      []byte
	timestamp []byte
	cwd       []byte
	branch    []byte
	promptID  []byte
	plan      []byte
	source    source
	// silent reports whether no person wrote the line, whatever its text is. compaction is set for the
	// summary of a compacted context, failed for a failed request.
	silent, compaction, failed bool
	// sidechain reports whether the line is a subagent's. subagent is its id if the line is in the
	// transcript of the main agent.
	sidechain bool
	subagent  []byte
	// session is the session that the line names. copied reports that it is marked as a copy.
	session []byte
	copied  bool
	// detached reports whether the tool continued in the background.
	detached bool
	// agent is the id of the subagent that returned the result.
	agent   []byte
	message message
}

// kindPrefix is the beginning of lines outside the conversation.
const kindPrefix = `{"type":"`

// sniff returns the type of a line that begins with kindPrefix, nil for other lines.
func sniff(line []byte) []byte {
	if len(line) < len(kindPrefix) || string(line[:len(kindPrefix)]) != kindPrefix {
		return nil
	}
	s := scanner{b: line, i: len(kindPrefix) - 1}
	return s.str()
}

// isChain reports whether lines of a type belong to the conversation. All others are the agent's
// book-keeping.
func isChain(kind []byte) bool {
	switch string(kind) {
	case "user", "human", "assistant", "attachment", "system", "progress":
		return true
	}
	return false
}

// isBookKeeping reports whether lines of a type are Claude Code's book-keeping. It doesn't know all
// types.
func isBookKeeping(kind []byte) bool {
	switch string(kind) {
	case "summary", "file-history-snapshot", "queue-operation", "last-prompt", "mode", "permission-mode", "ai-title", "custom-title":
		return true
	}
	return false
}

// parse parses a line, whatever e held before. It returns false if the line is not a JSON object. For
// lines outside the conversation only the type is set. Lines of other agents are read in Claude
// Code's form.
func (e *entry) parse(line []byte) bool {
	_, ok := e.parseUntil(line, func([]byte) bool { return false })
	return ok
}

// parseUntil is parse up to the first key for which stop returns true. rest is the scanner at the
// value of that key; its zero value if there is none.
func (e *entry) parseUntil(line []byte, stop func(key []byte) bool) (rest scanner, ok bool) {
	*e = entry{line: forms.Line(line), message: message{blocks: e.message.blocks[:0]}}
	if e.line == nil {
		return scanner{}, true
	}
	if kind := sniff(e.line); kind != nil && !isChain(kind) {
		e.kind, line = kind, bytes.TrimRight(e.line, " \t\r")
		return scanner{}, line[len(line)-1] == '}'
	}
	s := scanner{b: e.line}
	if s.peek() != '{' {
		return scanner{}, false
	}
	s.i++
	for key, ok := s.key(); ok; key, ok = s.key() {
		if stop(key) {
			return s, !s.bad
		}
		e.field(&s, key)
	}
	return scanner{}, !s.bad && s.peek() == 0 && s.i >= len(s.b)
}

// field parses the value of one key of the line.
func (e *entry) field(s *scanner, key []byte) {
	switch string(key) {
	case "type":
		e.kind = s.str()
	case "subtype":
		e.subtype = s.str()
	case "uuid":
		e.uuid = s.str()
	case "timestamp":
		e.timestamp = s.str()
	case "cwd":
		e.cwd = s.str()
	case "gitBranch":
		e.branch = s.str()
	case "promptId":
		e.promptID = s.str()
	case "planContent":
		e.plan = s.str()
	case "message":
		e.message.read(s)
	case "isSidechain":
		e.sidechain = s.truth()
	case "agentId":
		e.subagent = s.str()
	case "sessionId":
		e.session = s.str()
	case "forkedFrom":
		e.copied = s.peek() == '{'
		s.skip()
	case "isMeta", "isVisibleInTranscriptOnly":
		e.silent = s.truth() || e.silent
	case "isCompactSummary":
		e.compaction = s.truth()
		e.silent = e.compaction || e.silent
	case "isApiErrorMessage":
		e.failed = s.truth()
	case "promptSource":
		if string(s.str()) == "system" && e.source == sourceUnknown {
			e.source = sourceAgent
		}
	case "origin":
		e.origin(s)
	case "toolUseResult":
		e.result(s)
	default:
		s.skip()
	}
}

// origin parses the member that records who wrote a line. It overrides all other marks.
func (e *entry) origin(s *scanner) {
	if !s.enter('{') {
		return
	}
	for key, ok := s.key(); ok; key, ok = s.key() {
		if string(key) != "kind" {
			s.skip()
			continue
		}
		switch kind := s.str(); {
		case string(kind) == "human":
			e.source = sourceHuman
		case kind != nil:
			e.source = sourceAgent
		}
	}
}

// result parses the agent's record of a tool's result: the id of the subagent, and whether the
// result only reports that the tool was started.
func (e *entry) result(s *scanner) {
	if !s.enter('{') {
		return
	}
	for key, ok := s.key(); ok; key, ok = s.key() {
		switch string(key) {
		case "isAsync":
			e.detached = s.truth() || e.detached
		case "backgroundTaskId":
			e.detached = len(s.str()) > 0 || e.detached
		case "agentId":
			e.agent = s.str()
		default:
			s.skip()
		}
	}
}

// time returns the line's time, zero if it has none.
func (e *entry) time() time.Time { return parseTime(e.timestamp) }

func parseTime(text []byte) time.Time {
	var t time.Time
	if len(text) == 0 || t.UnmarshalText(text) != nil {
		return time.Time{}
	}
	return t.UTC()
}

// message holds the used fields of the value of a line's key "message".
type message struct {
	id, model []byte
	usage     Usage
	// blocks are the parts of the content. A content that is a string is a single text block.
	blocks []block
}

// block is one part of a message's content.
type block struct {
	kind, text []byte
	// id, name and input belong to a tool use. started is the time of its start if its line was
	// written at its end.
	id, name, input, started []byte
	// of is the id of the tool use to which a result belongs.
	of     []byte
	failed bool
	// result is a result's raw content.
	result []byte
}

// read parses the value at the scanner's position. It overwrites the previous contents of m.
func (m *message) read(s *scanner) {
	*m = message{blocks: m.blocks[:0]}
	if !s.enter('{') {
		return
	}
	for key, ok := s.key(); ok; key, ok = s.key() {
		switch string(key) {
		case "id":
			m.id = s.str()
		case "model":
			m.model = s.str()
		case "usage":
			m.usage = parseUsage(s)
		case "content":
			m.content(s)
		default:
			s.skip()
		}
	}
}

func (m *message) content(s *scanner) {
	if s.peek() == '"' {
		m.blocks = append(m.blocks, block{kind: []byte("text"), text: s.str()})
		return
	}
	if !s.enter('[') {
		return
	}
	for s.item() {
		if b, ok := parseBlock(s); ok {
			m.blocks = append(m.blocks, b)
		}
	}
}

func parseBlock(s *scanner) (b block, ok bool) {
	if !s.enter('{') {
		return block{}, false
	}
	for key, ok := s.key(); ok; key, ok = s.key() {
		switch string(key) {
		case "type":
			b.kind = s.str()
		case "text":
			b.text = s.str()
		case "id":
			b.id = s.str()
		case "name":
			b.name = s.str()
		case "input":
			b.input = s.raw()
		case "started_at":
			b.started = s.str()
		case "tool_use_id":
			b.of = s.str()
		case "is_error":
			b.failed = s.truth()
		case "content":
			b.result = s.raw()
		default:
			s.skip()
		}
	}
	// The vendor executes tools of its own, such as "server_tool_use" of a search.
	for _, kind := range []string{"tool_use", "tool_result"} {
		if bytes.HasSuffix(b.kind, []byte("_"+kind)) {
			b.kind = []byte(kind)
		}
	}
	return b, true
}

func parseUsage(s *scanner) (u Usage) {
	if !s.enter('{') {
		return u
	}
	for key, ok := s.key(); ok; key, ok = s.key() {
		switch string(key) {
		case "input_tokens":
			u.Input = s.count()
		case "cache_creation_input_tokens":
			u.CacheCreation = s.count()
		case "cache_read_input_tokens":
			u.CacheRead = s.count()
		case "output_tokens":
			u.Output = s.count()
		default:
			s.skip()
		}
	}
	return u
}

// input holds the used fields of a tool's input.
type input struct {
	path       string
	command    string // its first longestCommand bytes, counted before unescaping
	background bool
}

// longestCommand is the number of bytes kept of a shell's command.
const longestCommand = 16 << 10

func parseInput(raw []byte) (in input) {
	s := scanner{b: raw}
	if !s.enter('{') {
		return in
	}
	for key, ok := s.key(); ok; key, ok = s.key() {
		switch string(key) {
		case "file_path", "notebook_path":
			if p := s.str(); len(p) > 0 {
				in.path = Unescaped(p)
			}
		case "command":
			if c := s.str(); len(c) > 0 {
				in.command = Unescaped(c[:min(len(c), longestCommand)])
			}
		case "run_in_background":
			in.background = s.truth()
		default:
			s.skip()
		}
	}
	return in
}
