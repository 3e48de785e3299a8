package jsonedit

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Record holds the data about a file that TakeAll needs to restore its original bytes.
type Record struct {
	Path    string `json:"path"`
	MadeDir bool   `json:"made_dir,omitempty"` // its directory was created for it
	// MadeParent means the same for the parent of that directory.
	MadeParent bool `json:"made_parent,omitempty"`
	Absent     bool `json:"absent,omitempty"` // the file did not exist
	// Exact means that Before is the whole file without entries of this program, and a file with
	// the digest After differs from it by these entries only.
	Exact  bool   `json:"exact,omitempty"`
	Before []byte `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Prior is the digest of the file before the last edit: a process killed after it wrote the
	// record, but before it wrote the file, leaves the file with this digest.
	Prior string `json:"prior,omitempty"`
	// Made lists the objects and arrays that edits created. Adopted means that the file had entries
	// before there was a record, so Made is incomplete.
	Made    []string `json:"made,omitempty"`
	Adopted bool     `json:"adopted,omitempty"`
	// Replaced is the text of the value that was replaced, empty if there was none.
	Replaced []byte `json:"status_line,omitempty"`
}

// mayGo returns a function that reports whether an object or array that becomes empty is removed,
// too: those that edits created or, if that isn't known, all of them.
func (r *Record) mayGo(known bool) func(path string) bool {
	return func(path string) bool { return !known || r.Adopted || slices.Contains(r.Made, path) }
}

// note records that f becomes text; foreign means that f has no entries of this program.
func (r *Record) note(f target, text []byte, foreign bool) {
	switch {
	case foreign:
		r.Absent, r.Exact, r.Before, r.Made, r.Adopted, r.Prior = !f.exists, true, f.data, nil, false, ""
	case r.After == "":
		r.Adopted = true
	case r.untouched(f):
		r.Prior = disk.Digest(f.data)
	default:
		r.Exact, r.Before, r.Prior = false, nil, ""
	}
	r.After = disk.Digest(text)
}

// untouched reports whether no other program has written f since: Before is still the original.
func (r *Record) untouched(f target) bool {
	now := disk.Digest(f.data)
	return r.Exact && (r.After == now || r.Prior == now)
}

func (e File) recordPath() string {
	return filepath.Join(e.Backup, "claude-"+disk.Digest([]byte(e.Path))[:12]+".json")
}

// Record returns the record of the file, and whether there is one. A damaged one counts as none:
// TakeAll then removes only the entries of this program.
func (e File) Record() (Record, bool, error) {
	rec := Record{Path: e.Path}
	data, err := disk.ReadFile(e.recordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return rec, false, nil
	}
	if err != nil {
		return rec, false, err
	}
	if json.Unmarshal(data, &rec) == nil && rec.Path == e.Path {
		return rec, true, nil
	}
	return Record{Path: e.Path}, false, nil
}

// besideOurs reports whether the file's directory was created for another file with a record, in it
// or in a directory of it, that still exists. The directory then belongs to both files, and is
// removed with the last one.
func (e File) besideOurs() bool {
	all, err := os.ReadDir(e.Backup)
	return err == nil && slices.ContainsFunc(all, func(entry fs.DirEntry) bool {
		var of Record
		data, err := disk.ReadFile(filepath.Join(e.Backup, entry.Name()))
		if err != nil || json.Unmarshal(data, &of) != nil {
			return false
		}
		dir, theirs := filepath.Dir(e.Path), filepath.Dir(of.Path)
		return of.MadeDir && theirs == dir || of.MadeParent && filepath.Dir(theirs) == dir
	})
}

// HasRecord reports whether there is a record of the file.
func (e File) HasRecord() (bool, error) {
	_, err := os.Lstat(e.recordPath())
	return err == nil, ignoreMissing(err)
}
