package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// longestDetail is the maximum length of the shown part of a tool's input, in characters.
const longestDetail = 200

// doing holds the parts of a tool's input that may describe its purpose.
type doing struct {
	named map[string]string // texts under the keys of telling
	other string            // the first text under another key
	todos int
}

// telling returns the keys of inputs that describe a use, the most descriptive first.
func telling() []string {
	return []string{
		"file_path", "notebook_path", "absolute_path", "command", "pattern", "url", "query", "description", "subject",
		"taskId", "skill", "question", "path", "dir_path", "plan", "prompt",
	}
}

// detail returns the most descriptive part of a tool's input, in one line, and the command if it is
// longer than that line and the conversation is Full. A malformed input may be a text, possibly one
// that contains the input.
func (c *Conversation) detail(raw []byte) (line, command string) {
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) == 0, raw[0] == '{', string(raw) == "null":
	case raw[0] == '"':
		text := Value(raw).Text()
		if !json.Valid([]byte(text)) {
			return firstLine(text), ""
		}
		raw = []byte(text)
	default:
		return "(unreadable input)", ""
	}
	d := parseDoing(raw)
	for _, key := range telling() {
		value := d.named[key]
		if value == "" {
			continue
		}
		switch key {
		case "file_path", "notebook_path", "absolute_path", "path", "dir_path":
			value = c.relative(value)
		case "pattern":
			if at := d.named["path"]; at != "" {
				value += " in " + c.relative(at)
			}
		case "taskId":
			value += " " + d.named["status"]
		}
		if line = firstLine(value); key == "command" && c.Full && line != value {
			command = value
		}
		return line, command
	}
	if d.todos > 0 {
		return strconv.Itoa(d.todos) + " todos", ""
	}
	return firstLine(d.other), ""
}

func parseDoing(raw []byte) doing {
	d, wanted := doing{named: map[string]string{}}, telling()
	s := scanner{b: raw}
	if !s.enter('{') {
		return d
	}
	for key, ok := s.key(); ok; key, ok = s.key() {
		switch name := string(key); {
		case name == "todos":
			d.todos = 0
			if s.enter('[') {
				for ; s.item(); d.todos++ {
					s.skip()
				}
			}
		case name == "questions":
			first := "" // of the questions
			if s.enter('[') {
				for s.item() {
					first = cmp.Or(first, parseDoing(s.raw()).named["question"])
				}
			}
			d.named["question"] = first
		case s.peek() != '"':
			s.skip()
		case name == "status", slices.Contains(wanted, name):
			d.named[name] = plain(s.str())
		case d.other == "":
			d.other = plain(s.str())
		default:
			s.skip()
		}
	}
	return d
}

// plain returns the text between the quotes of a JSON string, valid and trimmed.
func plain(raw []byte) string {
	return strings.TrimSpace(Unquoted(raw))
}

// relative returns a path relative to the project or to the session's directory.
func (c *Conversation) relative(path string) string {
	for _, root := range []string{c.Root, c.cwd} {
		rest, below := strings.CutPrefix(path, strings.TrimSuffix(root, "/")+"/")
		if root != "" && below && rest != "" {
			return rest
		}
		if root != "" && path == root {
			return "."
		}
	}
	return path
}

// firstLine returns the first line of a text, cut to 200 characters.
func firstLine(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.Join(strings.Fields(line), " ")
	n := 0
	for i := range line {
		if n == longestDetail {
			line, more = line[:i], true
			break
		}
		n++
	}
	if more {
		line += " …"
	}
	return line
}
