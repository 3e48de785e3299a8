package transcript

import (
	"iter"
	"strings"
)

// Value is a JSON value as a line holds it: the bytes from its first to its
// last. It may be no valid JSON; then its methods return what they can read of it.
type Value []byte

// Text is a string's text, valid UTF-8, and "" for any other value.
func (v Value) Text() string {
	s := scanner{b: v}
	return Unquoted(s.str())
}

// True reports whether the value is true.
func (v Value) True() bool { return string(v) == "true" }

// Members are an object's keys, as written between their quotes, and their
// values; none of any other value.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		s := scanner{b: v}
		if !s.enter('{') {
			return
		}
		for key, ok := s.key(); ok; key, ok = s.key() {
			value := s.raw()
			if s.bad || !yield(string(key), value) {
				return
			}
		}
	}
}

// Member is the value of an object's key, nil if it has none.
func (v Value) Member(key string) Value {
	s := scanner{b: v}
	if !s.enter('{') {
		return nil
	}
	for k, ok := s.key(); ok; k, ok = s.key() {
		if string(k) == key {
			return s.raw()
		}
		s.skip()
	}
	return nil
}

// Items are an array's values; none of any other value.
func (v Value) Items() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		s := scanner{b: v}
		if !s.enter('[') {
			return
		}
		for s.item() {
			value := s.raw()
			if s.bad || !yield(value) {
				return
			}
		}
	}
}

// Said is the text of a message's content, or of a result's: a string, or the
// text blocks of an array, a line between them.
func (v Value) Said() string {
	s := scanner{b: v}
	if s.peek() == '"' {
		return v.Text()
	}
	var parts []string
	for item := range v.Items() {
		if t := item.Member("text").Text(); t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, "\n")
}
