package jsonedit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// File is a file of another program. Entries of this program are added to it, and can be removed
// again.
type File struct {
	// Path is the path of the file; a symbolic link is followed. Backup is the directory of the
	// record.
	Path, Backup string
	// Holds reports whether the document has entries of this program.
	Holds func(d *Document) bool
	// Strip removes all entries of this program. mayGo reports whether an object or array that
	// becomes empty is removed, too.
	Strip func(d *Document, rec Record, mayGo func(path string) bool) error
}

// Error reports a file that can't be edited safely. The file is not changed.
type Error struct {
	Path         string
	Line, Column int
	Text         string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s\nhint: mend the file and run the command again; nothing in it was changed",
		e.Path, e.Line, e.Column, e.Text)
}

// errChanged means that another program wrote the file during the edit.
var errChanged = errors.New("the file is being changed by another program")

// attempts is the maximum number of attempts to edit a file while other programs write it.
const attempts = 5

// retry repeats an edit if another program wrote the file during it.
func (e File) retry(edit func() (bool, error)) (changed bool, err error) {
	for range attempts {
		if changed, err = edit(); !errors.Is(err, errChanged) {
			break
		}
	}
	if err != nil {
		if _, ok := errors.AsType[*Error](err); ok {
			return false, err
		}
		return false, fmt.Errorf("edit %s: %w", e.Path, err)
	}
	return changed, nil
}

// Read parses the file. It writes nothing.
func (e File) Read() (*Document, error) {
	f, err := readTarget(e.Path)
	if err != nil {
		return nil, err
	}
	return e.document(f)
}

// document parses the text of a file; an empty or missing file is an empty object.
func (e File) document(f target) (*Document, error) {
	text := bytes.TrimPrefix(f.data, []byte(byteOrderMark))
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	d, err := Parse(text)
	if err != nil {
		return nil, e.placed(err)
	}
	return d, nil
}

func (e File) placed(err error) error {
	if at, ok := errors.AsType[*positionError](err); ok {
		return &Error{Path: e.Path, Line: at.line, Column: at.column, Text: at.text}
	}
	return err
}

// withMark restores the byte order mark of the file in an edited text.
func withMark(f target, text []byte) []byte {
	if bytes.HasPrefix(f.data, []byte(byteOrderMark)) {
		return append([]byte(byteOrderMark), text...)
	}
	return text
}

// Put edits the document, and keeps in the record the data needed to revert the edit. edit returns
// the paths of the objects and arrays that it created.
func (e File) Put(edit func(d *Document, rec *Record) (made []string, err error)) (bool, error) {
	return e.retry(func() (bool, error) {
		f, err := readTarget(e.Path)
		if err != nil {
			return false, err
		}
		d, err := e.document(f)
		if err != nil {
			return false, err
		}
		rec, known, err := e.Record()
		if err != nil {
			return false, err
		}
		foreign := !e.Holds(d)
		if foreign {
			rec.Replaced = nil // belongs to a former file
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
			rec.MadeParent = !f.parentExists
		}
		rec.note(f, text, foreign)
		rec.Made = slices.Compact(slices.Sorted(slices.Values(append(rec.Made, made...))))
		if err := disk.MkdirAll(e.Backup, 0o750); err != nil {
			return false, err
		}
		if err := disk.WriteJSON(e.recordPath(), rec); err != nil {
			return false, err
		}
		return true, f.replace(text)
	})
}

// TakeSome calls cut to remove some entries of this program. If none remain, it restores the
// original file.
func (e File) TakeSome(cut func(d *Document, rec Record, mayGo func(string) bool) error) (bool, error) {
	last := false
	changed, err := e.Put(func(d *Document, rec *Record) ([]string, error) {
		if !e.Holds(d) {
			return nil, nil
		}
		trial, err := Parse(bytes.Clone(d.text))
		if err != nil {
			return nil, err
		}
		mayGo := rec.mayGo(rec.After != "")
		if err := cut(trial, *rec, mayGo); err != nil {
			return nil, err
		}
		if last = !e.Holds(trial); last {
			return nil, nil
		}
		d.text = trial.text
		return nil, d.parse()
	})
	if err != nil || !last {
		return changed, err
	}
	return e.TakeAll()
}

// TakeAll removes all entries of this program.
func (e File) TakeAll() (bool, error) {
	return e.retry(func() (bool, error) {
		f, err := readTarget(e.Path)
		if err != nil {
			return false, err
		}
		rec, known, err := e.Record()
		if err != nil {
			return false, err
		}
		changed, err := e.takeOut(f, rec, known)
		if err != nil {
			return false, err
		}
		if rec.MadeDir {
			if err := removeDir(f.dir); err != nil {
				return changed, err
			}
		}
		if rec.MadeParent {
			if err := removeDir(filepath.Dir(f.dir)); err != nil {
				return changed, err
			}
		}
		if err := disk.Remove(e.recordPath()); err != nil {
			return changed, err
		}
		_ = os.Remove(e.Backup) // fails if it has other files
		return changed, nil
	})
}

func (e File) takeOut(f target, rec Record, known bool) (bool, error) {
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
	if err := e.Strip(d, rec, rec.mayGo(known)); err != nil {
		return false, e.placed(err)
	}
	// Only an empty object may be left: no member and no comment.
	root, isObject := d.root.Value.(*hujson.Object)
	isEmpty := isObject && len(root.Members) == 0 && string(bytes.Join(bytes.Fields(d.text), nil)) == "{}"
	if rec.Absent && isEmpty {
		return true, f.remove()
	}
	if string(d.text) == before {
		return false, nil
	}
	return true, f.replace(withMark(f, d.text))
}

// ignoreMissing drops the error of a missing file.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
