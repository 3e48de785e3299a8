package transcript

import (
	"bytes"
	"time"

	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

// entry is what matters of one line's envelope. Its slices point into the line.
type entry struct {
	kind      []byte
	uuid      []byte
	timestamp []byte
	cwd       []byte
	branch    []byte
	source    source
	// silent reports whether no person wrote the line whatever it reads like.
	silent bool
	// sidechain reports whether the line is a subagent's, and subagent is its id where the
	// transcript of the main agent has the line.
	sidechain bool
	subagent  []byte
	// detached reports whether the tool went on in the background.
	detached bool
	// agent is the id of the subagent whose result it is.
	agent []byte
	// message is the raw value of that key.
	message []byte
}

// kindPrefix is how a line that is no part of the conversation begins.
const kindPrefix = `{"type":"`

// sniff returns the type of a line that begins with it, nil for other lines.
func sniff(line []byte) []byte {
	if len(line) < len(kindPrefix) || string(line[:len(kindPrefix)]) != kindPrefix {
		return nil
	}
	s := scanner{b: line, i: len(kindPrefix) - 1}
	return s.str()
}

// isChain reports whether lines of a type make up the conversation; all others
// are the agent's book-keeping.
func isChain(kind []byte) bool {
	switch string(kind) {
	case "user", "human", "assistant", "attachment", "system", "progress":
		return true
	}
	return false
}

// parseEntry reads the envelope of a line. It returns false if the line is no
// JSON object. Of a line that is no part of the conversation only the type is
// good. Lines of other agents are read in Claude Code's form.
func parseEntry(line []byte) (e entry, ok bool) {
	if line = forms.Line(line); line == nil {
		return entry{}, true
	}
	if kind := sniff(line); kind != nil && !isChain(kind) {
		line = bytes.TrimRight(line, " \t\r")
		return entry{kind: kind}, line[len(line)-1] == '}'
	}
	s := scanner{b: line}
	if s.peek() != '{' {
		return entry{}, false
	}
	s.i++
	for key, ok := s.key(); ok; key, ok = s.key() {
		e.field(&s, key)
	}
	if s.bad || s.peek() != 0 || s.i < len(s.b) {
		return entry{}, false
	}
	return e, true
}

// field takes in one key of the envelope.
func (e *entry) field(s *scanner, key []byte) {
	switch string(key) {
	case "type":
		e.kind = s.str()
	case "uuid":
		e.uuid = s.str()
	case "timestamp":
		e.timestamp = s.str()
	case "cwd":
		e.cwd = s.str()
	case "gitBranch":
		e.branch = s.str()
	case "message":
		e.message = s.raw()
	case "isSidechain":
		e.sidechain = s.truth()
	case "agentId":
		e.subagent = s.str()
	case "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly":
		e.silent = s.truth() || e.silent
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

// origin takes in the member that records who wrote a line. It overrides all else.
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

// result takes in what the agent notes of a tool's result: whether that only records that it was
// started, and the subagent.
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

// message is what matters of the value of an envelope's key "message". Its
// slices point into the line.
type message struct {
	id, model []byte
	usage     Usage
	// blocks are the parts of the content; a content that is one string is one
	// text block.
	blocks []block
}

// block is one part of a message's content.
type block struct {
	kind, text []byte
	// id, name and input are a tool use's, and started, where its line was written at
	// its end.
	id, name, input, started []byte
	// of is the id of the tool use that a result is for.
	of     []byte
	failed bool
	// result is a result's raw content.
	result []byte
}

// parse reads a message; what the lines before left in m is lost.
func (m *message) parse(raw []byte) {
	m.read(&scanner{b: raw})
}

// read is parse of the value that the scanner is at.
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

// input is what matters of a tool's input.
type input struct {
	path       string
	command    string // its first longestCommand bytes, as they are escaped
	background bool
}

// longestCommand is how much of a shell's command is kept.
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
