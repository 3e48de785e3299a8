package git

import (
	"bytes"
	"strings"
)

// configReader parses a configuration file. It is lenient: a line that git would refuse is skipped.
// go-git's decoder isn't used: it takes 0.3 ms for 300 branches, and its imports another 0.2 ms at
// every start.
type configReader struct {
	data []byte
	pos  int
}

// configEntry is a setting: section and key in lower case, the subsection verbatim. isPlain reports
// that there is no subsection.
type configEntry struct {
	section, sub, key, value string
	isPlain                  bool
}

// parseConfig calls yield for each setting. A key without a value is "true".
func parseConfig(data []byte, yield func(configEntry)) {
	c := configReader{data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))}
	var in configEntry
	for {
		for c.pos < len(c.data) && isConfigSpace(c.data[c.pos]) {
			c.pos++
		}
		if c.pos >= len(c.data) {
			return
		}
		switch b := c.data[c.pos]; {
		case b == '#' || b == ';':
			c.skipLine()
		case b == '[':
			in = c.section()
		case isKeyByte(b):
			start := c.pos
			for c.pos < len(c.data) && isKeyByte(c.data[c.pos]) {
				c.pos++
			}
			key := strings.ToLower(string(c.data[start:c.pos]))
			value, ok := c.value()
			if ok && in.section != "" {
				in.key, in.value = key, value
				yield(in)
			}
		default:
			c.skipLine()
		}
	}
}

func (c *configReader) skipLine() {
	if i := bytes.IndexByte(c.data[c.pos:], '\n'); i >= 0 {
		c.pos += i + 1
		return
	}
	c.pos = len(c.data)
}

// section reads [name] or [name "sub"].
func (c *configReader) section() configEntry {
	c.pos++
	start := c.pos
	for c.pos < len(c.data) && (isKeyByte(c.data[c.pos]) || c.data[c.pos] == '.') {
		c.pos++
	}
	in := configEntry{section: strings.ToLower(string(c.data[start:c.pos])), isPlain: true}
	var sub []byte
	quoted := false
	for ; c.pos < len(c.data) && c.data[c.pos] != '\n'; c.pos++ {
		b := c.data[c.pos]
		switch {
		case b == '\\' && quoted:
			if c.pos++; c.pos < len(c.data) {
				sub = append(sub, c.data[c.pos])
			}
		case b == '"':
			quoted, in.isPlain = !quoted, false
		case b == ']' && !quoted:
			c.pos++
			in.sub = string(sub)
			return in
		case quoted:
			sub = append(sub, b)
		}
	}
	return configEntry{}
}

// value reads from the end of a key to the end of its line: quotes, escapes, comments and continued
// lines as in git. It returns false for a line that git would refuse.
func (c *configReader) value() (string, bool) {
	c.skipBlanks()
	if c.pos >= len(c.data) || c.data[c.pos] == '\n' || c.data[c.pos] == '#' || c.data[c.pos] == ';' {
		c.skipLine()
		return "true", true
	}
	if c.data[c.pos] != '=' {
		c.skipLine()
		return "", false
	}
	c.pos++
	c.skipBlanks()
	var out []byte
	keep := 0 // length of out without unquoted trailing white space
	quoted := false
	for c.pos < len(c.data) {
		b := c.data[c.pos]
		c.pos++
		switch {
		case b == '\n':
			return string(out[:keep]), !quoted
		case !quoted && (b == '#' || b == ';'):
			c.skipLine()
			return string(out[:keep]), true
		case b == '"':
			quoted = !quoted
			keep = len(out)
			continue
		case b == '\\':
			e, ok := c.escape()
			if !ok {
				c.skipLine()
				return "", false
			}
			out = append(out, e...)
			keep = len(out)
			continue
		}
		out = append(out, b)
		if quoted || !isConfigSpace(b) {
			keep = len(out)
		}
	}
	return string(out[:keep]), !quoted
}

func (c *configReader) skipBlanks() {
	for c.pos < len(c.data) && c.data[c.pos] != '\n' && isConfigSpace(c.data[c.pos]) {
		c.pos++
	}
}

// escape reads the character after a backslash.
func (c *configReader) escape() (string, bool) {
	if bytes.HasPrefix(c.data[c.pos:], []byte("\r\n")) {
		c.pos++
	}
	if c.pos >= len(c.data) {
		return "", true
	}
	b := c.data[c.pos]
	c.pos++
	switch b {
	case '\n':
		return "", true
	case 't':
		return "\t", true
	case 'n':
		return "\n", true
	case 'b':
		return "\b", true
	case '"', '\\':
		return string(b), true
	}
	c.pos--
	return "", false
}

func isConfigSpace(b byte) bool {
	return b == ' ' || b == '\t' || b == '\n' || b == '\r' || b == '\v' || b == '\f'
}

func isKeyByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-'
}
