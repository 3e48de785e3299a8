package transcript

import (
	"bytes"
	"encoding/json"
)

// scanner walks over one JSON text without building values, which is several times faster than
// parsing it. It is lenient where checks would cost time (commas, the kind of a closing bracket,
// the characters of a number): valid JSON is read correctly, invalid JSON may be accepted, and no
// input makes it panic, recurse or loop. After a failure bad is set and every method returns
// immediately.
type scanner struct {
	b   []byte
	i   int
	bad bool
}

func (s *scanner) fail() {
	s.bad = true
	s.i = len(s.b)
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// enter steps into an object or array that opens with c. It skips any other value and returns
// false.
func (s *scanner) enter(c byte) bool {
	if s.peek() != c {
		s.skip()
		return false
	}
	s.i++
	return true
}

// key returns the next key of the entered object, as written between its quotes. The caller then
// consumes exactly one value. At the object's end it consumes the bracket and returns false.
func (s *scanner) key() ([]byte, bool) {
	c := s.peek()
	if c == ',' {
		s.i++
		c = s.peek()
	}
	if c == '}' {
		s.i++
		return nil, false
	}
	if c != '"' {
		s.fail()
		return nil, false
	}
	k := s.str()
	if s.peek() != ':' {
		s.fail()
		return nil, false
	}
	s.i++
	return k, true
}

// item reports whether the entered array has another item, which the caller then consumes. At the
// array's end it consumes the bracket and returns false.
func (s *scanner) item() bool {
	c := s.peek()
	if c == ',' {
		s.i++
		c = s.peek()
	}
	if c == ']' {
		s.i++
		return false
	}
	if c == 0 || c == '}' || c == ':' {
		s.fail()
		return false
	}
	return true
}

// str consumes a value. It returns the bytes between the quotes of a string, still escaped, and nil
// for any other value.
func (s *scanner) str() []byte {
	if s.peek() != '"' {
		s.skip()
		return nil
	}
	start := s.i + 1
	s.quoted()
	if s.bad {
		return nil
	}
	return s.b[start : s.i-1]
}

// quoted moves from an opening quote to the byte after the closing one.
func (s *scanner) quoted() {
	end := EndOfString(s.b, s.i+1)
	if end < 0 {
		s.fail()
		return
	}
	s.i = end + 1
}

// EndOfString returns the index of the closing quote of a JSON string whose content begins at
// start, -1 if there is none.
func EndOfString(b []byte, start int) int {
	for at := start; ; {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		back := at
		for back > start && b[back-1] == '\\' {
			back--
		}
		if (at-back)%2 == 0 {
			return at
		}
		at++
	}
}

// truth consumes a value and reports whether it is true.
func (s *scanner) truth() bool {
	return string(s.raw()) == "true"
}

// count consumes a value and returns it if it is a non-negative integer, else 0.
func (s *scanner) count() int64 {
	const limit = 1 << 53
	var n int64
	for _, c := range s.raw() {
		if c < '0' || c > '9' || n > limit {
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// raw consumes a value and returns its bytes.
func (s *scanner) raw() []byte {
	s.peek()
	start := s.i
	s.skip()
	return s.b[start:s.i]
}

// skip consumes one value of any kind.
func (s *scanner) skip() {
	switch s.peek() {
	case '"':
		s.quoted()
	case '{', '[':
		// Move past the bracket that closes this one.
		depth := 0
		for s.i < len(s.b) {
			switch s.b[s.i] {
			case '"':
				s.quoted()
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			s.i++
			if depth == 0 {
				return
			}
		}
		s.fail()
	case 0, ',', ':', '}', ']':
		s.fail()
	default:
		// A number, true, false or null.
		for s.i < len(s.b) {
			switch s.b[s.i] {
			case ',', ':', '}', ']', ' ', '\t', '\r', '\n', '"', '{', '[':
				return
			}
			s.i++
		}
	}
}

// Unescaped decodes the bytes between the quotes of a JSON string. It returns invalid ones
// unchanged.
func Unescaped(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	quoted := make([]byte, 0, len(raw)+2)
	quoted = append(append(append(quoted, '"'), raw...), '"')
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return string(raw)
	}
	return s
}
