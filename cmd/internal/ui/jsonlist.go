package ui

import (
	"bytes"
	"encoding/json"
	"iter"
)

// JSONList is a JSON value with a list. Each entry is written before the next one is read.
type JSONList struct {
	// Before returns an object with the fields before the list. It is called at the first
	// entry, or at the end if there is none. It is nil if there are no such fields.
	Before func() any
	// Key is the name of the list. If it is empty, the value is the list itself.
	Key string
	// Entries yields the entries. It ends at the first error.
	Entries iter.Seq2[any, error]
	// After returns an object with the fields after the list. It is called when the list is
	// complete. It is nil if there are no such fields.
	After func() any
	// Doing describes the step that produces the entries. It is shown by Progress, unless
	// Out is a terminal.
	Doing string
}

// JSONEntries returns the entries of a JSONList that are already in memory.
func JSONEntries[T any](list []T) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for _, entry := range list {
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// JSONList writes the same bytes as JSON for such a value. It writes nothing before the
// first entry is read, so that an error up to then can be reported as JSON. A later error
// ends the output.
//
// With Lines it writes each entry on a line of its own, then the other fields, of which the
// first is "end". All lines begin with "schema".
func (s Streams) JSONList(l JSONList) error { return writeList(s, l, "  ") }

// JSONListLine writes the same bytes as JSONLine for such a value, and with Lines as JSONList.
func (s Streams) JSONListLine(l JSONList) error { return writeList(s, l, "") }

// JSONOf writes the same bytes as JSON. With Lines it writes the entries of v's list of that key as
// JSONList does; they are objects.
func (s Streams) JSONOf(v any, key string) error {
	if !s.Lines {
		return s.JSON(v)
	}
	text, err := compact(v)
	if err != nil {
		return err
	}
	list, rest, err := cutField(text, key)
	if err != nil {
		return err
	}
	for _, entry := range list {
		if err := s.JSONLine(entry); err != nil {
			return err
		}
	}
	return s.writeEnd(rest)
}

// writeEnd writes the last line of a list: objects as one, after "end".
func (s Streams) writeEnd(objects ...[]byte) error {
	text := []byte(`{"end":true`)
	for _, object := range objects {
		object = bytes.TrimSpace(object)
		if fields := object[1 : len(object)-1]; len(fields) > 0 {
			text = append(append(text, ','), fields...)
		}
	}
	return s.JSONLine(json.RawMessage(append(text, '}')))
}

// cutField returns the list of an object that has a key, and the object without it.
func cutField(object []byte, key string) (list []json.RawMessage, rest []byte, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	rest = []byte{'{'}
	for d.More() {
		from := d.InputOffset()
		name, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, err
		}
		if name == key {
			if err := json.Unmarshal(value, &list); err != nil {
				return nil, nil, err
			}
			continue
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(rest, bytes.TrimPrefix(object[from:d.InputOffset()], []byte{','})...)
	}
	return list, append(rest, '}'), nil
}

// writeLines writes a list with each entry on a line.
func (s Streams) writeLines(l JSONList) error {
	for entry, err := range l.Entries {
		if err == nil {
			err = s.JSONLine(entry)
		}
		if err != nil {
			return err
		}
	}
	var parts [][]byte
	for _, part := range []func() any{l.Before, l.After} {
		if part == nil {
			continue
		}
		text, err := compact(part())
		if err != nil {
			return err
		}
		parts = append(parts, text)
	}
	return s.writeEnd(parts...)
}

func writeList(s Streams, l JSONList, indent string) error {
	write := func() error { return (&listWriter{JSONList: l, out: s, indent: indent}).write() }
	if s.Lines {
		write = func() error { return s.writeLines(l) }
	}
	if l.Doing == "" || s.Terminal.Out {
		return write()
	}
	return s.Progress(l.Doing, write)
}

// listWriter writes a JSONList.
type listWriter struct {
	JSONList

	out    Streams
	indent string // per level; empty: everything on one line
	count  int    // written entries
}

func (w *listWriter) write() error {
	for entry, err := range w.Entries {
		var text []byte
		if err == nil {
			text, err = w.value(w.level(1), entry)
		}
		before := []byte{','}
		if err == nil && w.count == 0 {
			before, err = w.head()
		}
		if err == nil {
			w.count++
			err = w.out.writeJSON(append(w.newLine(before, 1), text...))
		}
		if err != nil {
			return err
		}
	}
	// The end of the list and the fields after it.
	var text []byte
	var err error
	if w.count > 0 {
		text = w.newLine(nil, 0)
	} else if text, err = w.head(); err != nil {
		return err
	}
	text = append(text, ']')
	if w.Key != "" {
		if text, err = w.tail(text); err != nil {
			return err
		}
	}
	return w.out.writeJSON(append(text, '\n'))
}

// head returns the beginning of the value, up to the bracket of the list.
func (w *listWriter) head() ([]byte, error) {
	if w.Key == "" {
		return []byte("["), nil
	}
	before := any(struct{}{})
	if w.Before != nil {
		before = w.Before()
	}
	fields, err := envelope(before)
	if err != nil {
		return nil, err
	}
	text, err := w.indented(0, fields)
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte{'}'}), []byte{'\n'})
	text = append(text, ',')
	text = append(w.newLine(text, 0), '"')
	text = append(append(text, w.Key...), '"', ':')
	if w.indent != "" {
		text = append(text, ' ')
	}
	return append(text, '['), nil
}

// tail appends the fields after the list and the end of the object.
func (w *listWriter) tail(text []byte) ([]byte, error) {
	if w.After != nil {
		fields, err := w.value(0, w.After())
		if err != nil {
			return nil, err
		}
		if fields = bytes.TrimPrefix(fields, []byte{'{'}); !bytes.Equal(fields, []byte{'}'}) {
			return append(append(text, ','), fields...), nil
		}
	}
	if w.indent != "" {
		text = append(text, '\n')
	}
	return append(text, '}'), nil
}

// level returns the depth of a value from its depth relative to the list's name.
func (w *listWriter) level(below int) int {
	if w.Key == "" {
		return below
	}
	return below + 1
}

// newLine begins a line for a value, given its depth relative to the list's name.
func (w *listWriter) newLine(text []byte, below int) []byte {
	if w.indent == "" {
		return text
	}
	text = append(text, '\n')
	return append(text, bytes.Repeat([]byte(w.indent), w.level(below))...)
}

// value returns v as JSON at a level, without a line end.
func (w *listWriter) value(level int, v any) ([]byte, error) {
	text, err := compact(v)
	if err != nil {
		return nil, err
	}
	return w.indented(level, text)
}

func (w *listWriter) indented(level int, text []byte) ([]byte, error) {
	text = bytes.TrimSuffix(text, []byte{'\n'})
	if w.indent == "" {
		return text, nil
	}
	var out bytes.Buffer
	err := json.Indent(&out, text, string(bytes.Repeat([]byte(w.indent), level)), w.indent)
	return out.Bytes(), err
}
