package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Change is a new value for a key: a bool or a string, JSON text as a
// json.RawMessage, or nil to remove the key.
type Change struct {
	Key   string
	Value any
}

// modes are the permissions of new files and directories.
type modes struct{ file, dir fs.FileMode }

// Edit changes keys of the settings file path, which it creates if necessary, and preserves all
// other bytes: other keys, known or not, their order, comments. It reports whether it wrote the
// file. An invalid file is an error and is not changed.
func Edit(path string, changes ...Change) (bool, error) {
	return edit(path, modes{file: 0o644, dir: 0o755}, changes)
}

// edit is Edit with the permissions of new files and directories. It starts again if another
// process wrote the file meanwhile.
func edit(path string, perm modes, changes []Change) (bool, error) {
	for range attempts {
		mode := perm.file
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return false, err
		case info.Mode()&fs.ModeSymlink != 0:
			return false, fmt.Errorf("%s is a symbolic link: not written", path)
		default:
			mode = info.Mode().Perm()
		}
		old, err := readFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("read %s: %w", path, err)
		}
		data, err := Apply(old, changes...)
		if err != nil {
			return false, fmt.Errorf("edit %s: %w", path, err)
		}
		if info != nil && bytes.Equal(data, old) {
			return false, nil
		}
		if err := disk.MkdirAll(filepath.Dir(path), perm.dir); err != nil {
			return false, err
		}
		now, err := readFile(path)
		isChanged := old != nil
		if err == nil {
			isChanged = old == nil || !bytes.Equal(now, old)
		}
		if isChanged {
			continue
		}
		return true, disk.WriteDurable(path, data, mode)
	}
	return false, fmt.Errorf("%s is being written by another program", path)
}

// Apply is Edit for the content of a file.
func Apply(data []byte, changes ...Change) ([]byte, error) {
	for _, c := range changes {
		var err error
		if data, err = apply(data, c); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// Undo restores the values of keys in data from before, and removes those that before doesn't have.
func Undo(data, before []byte, keys ...string) ([]byte, error) {
	root, err := parse(before)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		c := Change{Key: key}
		if text, found := find(root, strings.Split(key, ".")); found {
			c.Value = json.RawMessage(text)
		}
		if data, err = apply(data, c); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// find returns the text of a value.
func find(o *hujson.Object, path []string) ([]byte, bool) {
	m := member(o, path[0])
	switch {
	case m == nil:
		return nil, false
	case len(path) == 1:
		return hujson.Value{Value: m.Value.Value}.Pack(), true
	}
	if inner, ok := m.Value.Value.(*hujson.Object); ok {
		return find(inner, path[1:])
	}
	return nil, false
}

// member returns the member called name; if there are several, the last one, which is effective.
func member(o *hujson.Object, name string) *hujson.ObjectMember {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if l, ok := o.Members[i].Name.Value.(hujson.Literal); ok && unquote(l) == name {
			return &o.Members[i]
		}
	}
	return nil
}

// document is the text of a file, the object in it that is being edited, and the offsets of that
// object.
type document struct {
	text       []byte
	object     *hujson.Object
	start, end int
	indent     string // before the closing brace
}

func apply(data []byte, c Change) ([]byte, error) {
	var mark []byte
	if rest, found := bytes.CutPrefix(data, []byte(byteOrderMark)); found {
		mark, data = []byte(byteOrderMark), rest
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	value, err := parseValue(data)
	if err != nil {
		return nil, err
	}
	object, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	d := document{text: data, object: object, start: value.StartOffset, end: value.EndOffset}
	text, err := d.change(strings.Split(c.Key, "."), c.Value)
	return append(mark, text...), err
}

func (d document) change(path []string, value any) ([]byte, error) {
	m := member(d.object, path[0])
	switch {
	case m == nil && value == nil:
		return d.text, nil
	case m == nil:
		return d.insert(path, value), nil
	case len(path) == 1 && value == nil:
		return d.remove(m), nil
	case len(path) == 1:
		return splice(d.text, m.Value.StartOffset, m.Value.EndOffset, render(nil, value, "")), nil
	}
	inner, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%s is not an object", path[0])
	}
	indent := strings.TrimLeft(lastLine(m.Name.BeforeExtra), "\r\n")
	in := document{text: d.text, object: inner, start: m.Value.StartOffset, end: m.Value.EndOffset, indent: indent}
	return in.change(path[1:], value)
}

// insert adds a member at the end of the object, with the line break and indentation of the last
// member, after the comments that follow that one.
func (d document) insert(path []string, value any) []byte {
	brace := d.end - 1
	extra := bytes.TrimRight(d.object.AfterExtra, " \t\r\n")
	at := brace - len(d.object.AfterExtra) + len(extra)
	if len(d.object.Members) == 0 {
		line := "\n" + d.indent
		text := append([]byte(line+"  "), render(path, value, line+"  ")...)
		return splice(d.text, at, brace, append(text, line...))
	}
	last := &d.object.Members[len(d.object.Members)-1]
	separator := lastLine(last.Name.BeforeExtra)
	if bytes.Contains(extra, []byte("//")) && !strings.Contains(separator, "\n") {
		separator = "\n"
	}
	text := append([]byte(separator), render(path, value, separator)...)
	if last.Value.AfterExtra != nil { // it has a comma, so the new one gets one, too
		return splice(d.text, at, at, append(text, ','))
	}
	out := splice(d.text, at, at, text)
	return splice(out, last.Value.EndOffset, last.Value.EndOffset, []byte{','})
}

// remove removes a member with its comma.
func (d document) remove(m *hujson.ObjectMember) []byte {
	members := d.object.Members
	i := 0
	for &members[i] != m {
		i++
	}
	switch {
	case i > 0:
		return splice(d.text, members[i-1].Value.EndOffset, m.Value.EndOffset, nil)
	case len(members) > 1:
		return splice(d.text, m.Name.StartOffset, members[1].Name.StartOffset, nil)
	case m.Value.AfterExtra != nil:
		comma := m.Value.EndOffset + len(m.Value.AfterExtra)
		return splice(d.text, m.Name.StartOffset, comma+1, nil)
	default:
		return splice(d.text, m.Name.StartOffset, m.Value.EndOffset, nil)
	}
}

func splice(text []byte, from, to int, with []byte) []byte {
	return bytes.Join([][]byte{text[:from], with, text[to:]}, nil)
}

// lastLine returns the line break and indentation before a member, or a space for members on one
// line.
func lastLine(extra hujson.Extra) string {
	text := string(extra)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		line := text[i:]
		if i > 0 && text[i-1] == '\r' {
			line = "\r" + line
		}
		return line[:len(line)-len(strings.TrimLeft(line, " \t\r\n"))]
	}
	return " "
}

// render returns the text of a member, with new objects for all but the last name of path, or of
// the value alone if path is empty.
func render(path []string, value any, separator string) []byte {
	if len(path) > 0 {
		name := append(hujson.String(path[0]), ": "...)
		if len(path) == 1 {
			return append(name, render(nil, value, separator)...)
		}
		inner := separator
		if strings.Contains(separator, "\n") {
			inner += "  "
		}
		name = append(name, "{"+inner...)
		name = append(name, render(path[1:], value, inner)...)
		return append(name, separator+"}"...)
	}
	switch v := value.(type) {
	case bool:
		return hujson.Bool(v)
	case json.RawMessage:
		return v
	default:
		return hujson.String(fmt.Sprint(v))
	}
}
