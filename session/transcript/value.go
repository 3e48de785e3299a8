package transcript

import (
	"iter"
	"strings"
)

// Value is a raw JSON value of a line, from its first byte to its last. It may be invalid JSON; its
// methods then return the part that they can read.
type Value []byte

// Text returns the text of a string as valid UTF-8, "" for any other value.
func (v Value) Text() string {
	s := scanner{b: v}
	return Unquoted(s.str())
}

// True reports whether the value is true.
func (v Value) True() bool { return string(v) == "true" }

// Members yields an object's keys, as written between their quotes, and their values; nothing for
// any other value.
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

// Member returns the value of an object's key, nil if it has none.
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

// Items yields an array's values; nothing for any other value.
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

// Said returns the text of a message's or result's content: a string, or the text blocks of an
// array, separated by newlines.
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
