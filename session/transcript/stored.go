package transcript

import (
	"bytes"
	"encoding/json"
)

const (
	// longString is the length above which a string of a stand-in is emptied.
	longString = 256
	// longStandIn is the length above which a stand-in is reduced to its envelope.
	longStandIn = 8 << 10
)

// Stored returns the form in which a checkpoint keeps a raw line without its newline. That is the
// line itself, except for the texts that the agent's vendor sends with each request. They record
// nothing of the work and are most of a new session. They are replaced by a stand-in: a JSON object
// with the same keys, with long strings, arrays and objects emptied. So the number of lines and the
// chain of uuids stay. A line that is not replaced is returned itself, without allocation. Stored
// of a stand-in returns the same bytes.
func Stored(line []byte) []byte {
	if !isBulk(line) {
		return line
	}
	out := standIn(line, func([]byte) bool { return true })
	if len(out) > longStandIn {
		out = standIn(line, isEnvelope)
	}
	if len(out) >= len(line) || len(out) > longStandIn || !json.Valid(out) {
		return line
	}
	return out
}

// isBulk reports whether a line is to be replaced by a stand-in.
func isBulk(line []byte) bool {
	kind, attached := sniff(line), []byte(nil)
	if kind == nil {
		kind, attached = kinds(line)
	}
	switch string(kind) {
	case "api-request", "api-request-blob", "api-request-shape":
		return true
	case "attachment":
		if attached == nil {
			_, attached = kinds(line)
		}
	default:
		return false
	}
	switch string(attached) {
	case "prompt_snapshot", "skill_listing", "agent_listing_delta", "deferred_tools_delta":
		return true
	}
	return false
}

// kinds returns the type of a line and of its attachment.
func kinds(line []byte) (kind, attached []byte) {
	s := scanner{b: line}
	if s.peek() != '{' {
		return nil, nil
	}
	s.i++
	for key, ok := s.key(); ok; key, ok = s.key() {
		switch string(key) {
		case "type":
			if kind = s.str(); string(kind) != "attachment" {
				return kind, nil
			}
		case "attachment":
			attached = typeOf(&s)
		default:
			s.skip()
		}
		if kind != nil && attached != nil {
			return kind, attached
		}
	}
	return kind, attached
}

// typeOf consumes a value and returns its member "type".
func typeOf(s *scanner) (kind []byte) {
	if !s.enter('{') {
		return nil
	}
	for key, ok := s.key(); ok; key, ok = s.key() {
		if string(key) == "type" {
			kind = s.str()
			continue
		}
		s.skip()
	}
	return kind
}

// isEnvelope reports whether a key may occur in any line of the conversation.
func isEnvelope(key []byte) bool {
	switch string(key) {
	case "type", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "session_id", "agentId",
		"timestamp", "isSidechain", "attachment":
		return true
	}
	return false
}

// standIn returns the line reduced to the wanted keys, with short values.
func standIn(line []byte, wanted func(key []byte) bool) []byte {
	s := scanner{b: line}
	out := make([]byte, 0, 1<<10)
	out = hollow(out, &s, wanted)
	if s.bad || s.peek() != 0 || s.i < len(s.b) {
		return line
	}
	return out
}

// hollow consumes an object and appends it with long values emptied. The keys of the attachment,
// which is an object too, are kept as well.
func hollow(out []byte, s *scanner, wanted func(key []byte) bool) []byte {
	if !s.enter('{') {
		return append(out, "{}"...)
	}
	out = append(out, '{')
	first := true
	for key, ok := s.key(); ok; key, ok = s.key() {
		if !wanted(key) {
			s.skip()
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(append(append(out, '"'), key...), '"', ':')
		if string(key) == "attachment" {
			out = hollow(out, s, wanted)
			continue
		}
		// Short values are kept, long ones replaced by the empty value of their kind.
		value := bytes.TrimSpace(s.raw())
		switch {
		case len(value) == 0:
		case value[0] == '{':
			value = []byte("{}")
		case value[0] == '[':
			value = []byte("[]")
		case value[0] == '"' && len(value) > longString:
			value = []byte(`""`)
		}
		out = append(out, value...)
	}
	return append(out, '}')
}
