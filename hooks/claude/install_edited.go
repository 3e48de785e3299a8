package claude

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/tailscale/hujson"
)

// edited is a file of the agent's that something of ours is put into, and taken
// out of again.
type edited struct {
	// path is the file's; a symbolic link is written through. backup is the
	// directory of the record.
	path, backup string
	// holds reports whether anything of ours is in the document.
	holds func(d *document) bool
	// strip takes all of ours out. mayGo reports which of the objects and arrays
	// that become empty go too.
	strip func(d *document, rec record, mayGo func(path string) bool) error
}

// errChanged means that another program wrote the file while it was edited.
var errChanged = errors.New("the file is being changed by another program")

// attempts is how often an edit begins anew when another program writes the file
// at the same moment.
const attempts = 5

// retry repeats an edit if another program wrote the file meanwhile.
func (e edited) retry(edit func() (bool, error)) (changed bool, err error) {
	for range attempts {
		if changed, err = edit(); !errors.Is(err, errChanged) {
			break
		}
	}
	if err != nil {
		if _, ok := errors.AsType[*SettingsError](err); ok {
			return false, err
		}
		return false, fmt.Errorf("edit %s: %w", e.path, err)
	}
	return changed, nil
}

// read reads the file as a document. It writes nothing.
func (e edited) read() (*document, error) {
	f, err := readTarget(e.path)
	if err != nil {
		return nil, err
	}
	return e.document(f)
}

// document is a file's text; an empty or missing one is an empty object.
func (e edited) document(f target) (*document, error) {
	text := bytes.TrimPrefix(f.data, []byte(byteOrderMark))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	d, err := parseDocument(text)
	if err != nil {
		return nil, e.placed(err)
	}
	return d, nil
}

func (e edited) placed(err error) error {
	if at, ok := errors.AsType[*positionError](err); ok {
		return &SettingsError{Path: e.path, Line: at.line, Column: at.column, Text: at.text}
	}
	return err
}

// withMark gives an edited text the byte order mark that the file had.
func withMark(f target, text []byte) []byte {
	if bytes.HasPrefix(f.data, []byte(byteOrderMark)) {
		return append([]byte(byteOrderMark), text...)
	}
	return text
}

// put changes the document by edit, and keeps in the record what is needed to
// take it back. edit returns the paths of what it had to make.
func (e edited) put(edit func(d *document, rec *record) (made []string, err error)) (bool, error) {
	return e.retry(func() (bool, error) { return e.putOnce(edit) })
}

func (e edited) putOnce(edit func(d *document, rec *record) ([]string, error)) (bool, error) {
	f, err := readTarget(e.path)
	if err != nil {
		return false, err
	}
	d, err := e.document(f)
	if err != nil {
		return false, err
	}
	rec, known, err := e.readRecord()
	if err != nil {
		return false, err
	}
	foreign := !e.holds(d)
	if foreign {
		rec.StatusLine = nil // of a file that is gone
	}
	before := string(d.text)
	made, err := edit(d, &rec)
	if err != nil {
		return false, e.placed(err)
	}
	if string(d.text) == before {
		return false, nil
	}
	text := withMark(f, d.text)
	if !known {
		rec.MadeDir = !f.dirExists || e.besideOurs()
	}
	rec.note(f, text, foreign)
	rec.Made = slices.Compact(slices.Sorted(slices.Values(append(rec.Made, made...))))
	if err := e.writeRecord(rec); err != nil {
		return false, err
	}
	return true, f.replace(text)
}

// takeSome lets cut take a part of ours out. If that was the last of ours, the
// file becomes what it was before.
func (e edited) takeSome(cut func(d *document, rec record, mayGo func(string) bool) error) (bool, error) {
	last := false
	changed, err := e.put(func(d *document, rec *record) ([]string, error) {
		if !e.holds(d) {
			return nil, nil
		}
		trial, err := parseDocument(bytes.Clone(d.text))
		if err != nil {
			return nil, err
		}
		mayGo := rec.mayGo(rec.After != "")
		if err := cut(trial, *rec, mayGo); err != nil {
			return nil, err
		}
		if last = !e.holds(trial); last {
			return nil, nil
		}
		d.text = trial.text
		return nil, d.parse()
	})
	if err != nil || !last {
		return changed, err
	}
	return e.takeAll()
}

// takeAll takes everything of ours out.
func (e edited) takeAll() (bool, error) {
	return e.retry(e.takeAllOnce)
}

func (e edited) takeAllOnce() (bool, error) {
	f, err := readTarget(e.path)
	if err != nil {
		return false, err
	}
	rec, known, err := e.readRecord()
	if err != nil {
		return false, err
	}
	changed, err := e.takeOut(f, rec, known)
	if err != nil {
		return false, err
	}
	if rec.MadeDir {
		if err := f.removeDir(); err != nil {
			return changed, err
		}
	}
	return changed, e.removeRecord()
}

func (e edited) takeOut(f target, rec record, known bool) (bool, error) {
	if !f.exists {
		return false, nil
	}
	if rec.untouched(f) {
		if rec.Absent {
			return true, f.remove()
		}
		return true, f.replace(rec.Before)
	}
	d, err := e.document(f)
	if err != nil {
		return false, err
	}
	before := string(d.text)
	if err := e.strip(d, rec, rec.mayGo(known)); err != nil {
		return false, e.placed(err)
	}
	if rec.Absent && isEmptyObject(d) {
		return true, f.remove()
	}
	if string(d.text) == before {
		return false, nil
	}
	return true, f.replace(withMark(f, d.text))
}

// isEmptyObject reports whether nothing but an empty object is left: no member
// and no comment.
func isEmptyObject(d *document) bool {
	root, ok := d.root.Value.(*hujson.Object)
	return ok && len(root.Members) == 0 && string(bytes.Join(bytes.Fields(d.text), nil)) == "{}"
}

// ignoreMissing drops the error for a file that isn't there.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
