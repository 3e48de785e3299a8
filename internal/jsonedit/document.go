// Package jsonedit edits JSON files of other programs, which may have comments and trailing commas.
// It changes as few bytes as possible, and keeps a record of the original, so that removing all
// entries of this program restores the original bytes.
package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// byteOrderMark may begin a settings file; the parser doesn't accept it.
const byteOrderMark = "\uFEFF"

// Document is a JSON text (with comments and trailing commas) being edited. Bytes outside of an
// edit are preserved.
type Document struct {
	text []byte
	root hujson.Value
	eol  string // line ending
	unit string // one step of indentation
	flat bool   // on a single line
}

// positionError is an error at a position in a text.
type positionError struct {
	line, column int
	text         string
}

func (e *positionError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.line, e.column, e.text)
}

// Parse parses a text, which must be an object.
func Parse(text []byte) (*Document, error) {
	d := &Document{text: text}
	if err := d.parse(); err != nil {
		return nil, err
	}
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, d.ErrorAt(d.root.StartOffset, "the settings are not an object")
	}
	d.eol = "\n"
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		d.eol = "\r\n"
	}
	d.unit = "  "
	body := text[d.root.StartOffset:d.root.EndOffset]
	d.flat = len(root.Members) > 0 && !bytes.Contains(body, []byte("\n"))
	if len(root.Members) == 0 {
		return d, nil
	}
	first := root.Members[0].Name.StartOffset
	if in := d.indentOf(first); in != "" && d.startsLine(first) {
		d.unit = in
	}
	return d, nil
}

func (d *Document) parse() error {
	root, err := hujson.Parse(d.text)
	if err != nil {
		// The parser's message contains the position.
		where := regexp.MustCompile(`line (\d+), column (\d+): (?s:(.*))`)
		m := where.FindStringSubmatch(err.Error())
		if m == nil {
			return err
		}
		line, _ := strconv.Atoi(m[1])
		column, _ := strconv.Atoi(m[2])
		return &positionError{line: line, column: column, text: m[3]}
	}
	d.root = root
	return nil
}

// ErrorAt returns an error at an offset of the text.
func (d *Document) ErrorAt(offset int, text string) error {
	before := d.text[:offset]
	return &positionError{
		line:   1 + bytes.Count(before, []byte("\n")),
		column: offset - bytes.LastIndexByte(before, '\n'),
		text:   text,
	}
}

// Root returns the root value of the document.
func (d *Document) Root() hujson.Value { return d.root }

// Source returns the text of a value in the document.
func (d *Document) Source(v hujson.Value) []byte {
	return bytes.Clone(d.text[v.StartOffset:v.EndOffset])
}

// Replace replaces the text of a value.
func (d *Document) Replace(v hujson.Value, text string) error {
	return d.apply(replacement{v.StartOffset, v.EndOffset, text})
}

// replacement is new text for the bytes from start to end.
type replacement struct {
	start, end int
	text       string
}

// apply makes replacements, which must be sorted and must not overlap, and parses the text again:
// earlier offsets become invalid.
func (d *Document) apply(rs ...replacement) error {
	var out []byte
	at := 0
	for _, r := range rs {
		out = append(append(out, d.text[at:r.start]...), r.text...)
		at = r.end
	}
	d.text = append(out, d.text[at:]...)
	return d.parse()
}

// item is a member of an object or an element of an array.
type item struct {
	start, end int    // of "name": value, or of the element
	comma      int    // offset of its comma, if there is one
	before     string // white space and comments before it
	value      hujson.Value
}

// list holds the common parts of an object and an array.
type list struct {
	open, end int // offsets of the opening bracket and after the closing one
	items     []item
	trailing  bool // a comma follows the last item
}

// listOf returns the items of v, which is an object or an array.
func listOf(v hujson.Value) list {
	l := list{open: v.StartOffset, end: v.EndOffset}
	var extra hujson.Extra
	switch c := v.Value.(type) {
	case *hujson.Object:
		extra = c.AfterExtra
		for _, m := range c.Members {
			l.items = append(l.items, item{
				start: m.Name.StartOffset, end: m.Value.EndOffset,
				comma:  m.Value.EndOffset + len(m.Value.AfterExtra),
				before: string(m.Name.BeforeExtra), value: m.Value,
			})
		}
	case *hujson.Array:
		extra = c.AfterExtra
		for _, e := range c.Elements {
			l.items = append(l.items, item{
				start: e.StartOffset, end: e.EndOffset,
				comma:  e.EndOffset + len(e.AfterExtra),
				before: string(e.BeforeExtra), value: e,
			})
		}
	}
	if n := len(l.items); n > 0 {
		l.trailing = l.items[n-1].end+len(extra) != l.end-1
	}
	return l
}

// Add appends an item to the object or array v: compact is its value as compact JSON, name its name
// in an object.
func (d *Document) Add(v hujson.Value, name, compact string) error {
	l := listOf(v)
	closing := l.end - 1
	floor := l.open + 1 // insertions start here at the earliest
	var rs []replacement
	last := item{}
	if n := len(l.items); n > 0 {
		last = l.items[n-1]
		floor = last.end
		if l.trailing {
			floor = last.comma + 1
		} else {
			rs = append(rs, replacement{last.end, last.end, ","})
		}
	}
	at := floor + len(bytes.TrimRight(d.text[floor:closing], " \t\r\n"))
	inline := d.flat || len(l.items) > 0 && !bytes.Contains(d.text[l.open:l.end], []byte("\n"))
	text := compact
	if name != "" {
		text = Quote(name) + ":" + compact
	}
	if !inline {
		text = d.lineItem(l, last, name, compact)
	} else if len(l.items) > 0 && !d.flat {
		text = " " + text
	}
	if l.trailing {
		text += ","
	}
	if !inline && len(l.items) == 0 && !bytes.Contains(d.text[at:closing], []byte("\n")) {
		text += d.eol + d.indentOf(l.open)
	}
	return d.apply(append(rs, replacement{at, at, text})...)
}

// lineItem renders an item on lines of its own, indented like its neighbors.
func (d *Document) lineItem(l list, last item, name, compact string) string {
	indent := d.indentOf(l.open) + d.unit
	if len(l.items) > 0 && d.startsLine(last.start) {
		indent = d.indentOf(last.start)
	}
	var value bytes.Buffer
	if err := json.Indent(&value, []byte(compact), indent, d.unit); err != nil {
		value.WriteString(compact)
	}
	text := value.String()
	if name != "" {
		text = Quote(name) + ": " + text
	}
	return strings.ReplaceAll("\n"+indent+text, "\n", d.eol)
}

// Remove removes item i of v with its comma and the white space before it; comments stay. It is the
// exact inverse of Add.
func (d *Document) Remove(v hujson.Value, i int) error {
	l := listOf(v)
	it := l.items[i]
	lead := it.start - len(it.before) + len(strings.TrimRight(it.before, " \t\r\n"))
	hasComma := i < len(l.items)-1 || l.trailing
	rest := it.end
	if hasComma {
		rest = it.comma + 1
	}
	isLineEnd := bytes.HasPrefix(bytes.TrimLeft(d.text[rest:], " \t\r"), []byte("\n"))
	if endsInLineComment(it.before) && !isLineEnd {
		// The line end terminates the comment: without it, the comment would extend over the
		// following text.
		lead += bytes.IndexByte(d.text[lead:], '\n') + 1
	}
	var rs []replacement
	if !hasComma && i > 0 {
		comma := l.items[i-1].comma
		rs = append(rs, replacement{comma, comma + 1, ""})
	}
	rs = append(rs, replacement{lead, it.end, ""})
	if hasComma {
		rs = append(rs, replacement{it.comma, it.comma + 1, ""})
	}
	return d.apply(rs...)
}

// endsInLineComment reports whether the last comment of extra is a line comment.
func endsInLineComment(extra string) bool {
	line := false
	for extra != "" {
		switch {
		case strings.HasPrefix(extra, "//"):
			line = true
			_, extra, _ = strings.Cut(extra, "\n")
		case strings.HasPrefix(extra, "/*"):
			line = false
			_, extra, _ = strings.Cut(extra[2:], "*/")
		default:
			extra = extra[1:]
		}
	}
	return line
}

// indentOf returns the white space at the start of the line of offset.
func (d *Document) indentOf(offset int) string {
	line := d.text[bytes.LastIndexByte(d.text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// startsLine reports whether only white space precedes offset on its line.
func (d *Document) startsLine(offset int) bool {
	i := bytes.LastIndexByte(d.text[:offset], '\n')
	return i >= 0 && len(bytes.Trim(d.text[i+1:offset], " \t")) == 0
}
