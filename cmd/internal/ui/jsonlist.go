package ui

import (
	"bytes"
	"encoding/json"
	"io"
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

// BrokenOffError is the error of a list that is already partly written.
type BrokenOffError struct{ Err error }

// Error returns the text of Err.
func (e *BrokenOffError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *BrokenOffError) Unwrap() error { return e.Err }

// JSONList writes the same bytes as JSON for such a value. It writes nothing before the
// first entry is read, so that an error up to then can be reported as JSON. A later error
// is a *BrokenOffError.
func (s Streams) JSONList(l JSONList) error { return writeList(s, l, "  ") }

// JSONListLine writes the same bytes as JSONLine for such a value.
func (s Streams) JSONListLine(l JSONList) error { return writeList(s, l, "") }

func writeList(s Streams, l JSONList, indent string) error {
	write := func() error { return (&listWriter{JSONList: l, out: s.Out, indent: indent}).write() }
	if l.Doing == "" || s.Terminal.Out {
		return write()
	}
	return s.Progress(l.Doing, write)
}

// listWriter writes a JSONList.
type listWriter struct {
	JSONList

	out    io.Writer
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
			_, err = w.out.Write(append(w.newLine(before, 1), text...))
		}
		if err != nil && w.count > 0 {
			return &BrokenOffError{err}
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
	_, err = w.out.Write(append(text, '\n'))
	return err
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
