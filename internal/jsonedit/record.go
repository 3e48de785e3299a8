package jsonedit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Record is what File remembers of a file, so that TakeAll can give back its bytes.
type Record struct {
	Path    string `json:"path"`
	MadeDir bool   `json:"made_dir,omitempty"` // its directory is ours
	// MadeParent: so is the directory that this one is in.
	MadeParent bool `json:"made_parent,omitempty"`
	Absent     bool `json:"absent,omitempty"` // there was no file
	// Exact: Before is the whole file without anything of ours, and a file
	// with the digest After differs from it by our entries only.
	Exact  bool   `json:"exact,omitempty"`
	Before []byte `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Prior is the digest that After had before: who is stopped between the
	// record and the file leaves that one.
	Prior string `json:"prior,omitempty"`
	// Made are the objects and arrays that weren't there. Adopted: somebody
	// had installed before us, so it isn't known.
	Made    []string `json:"made,omitempty"`
	Adopted bool     `json:"adopted,omitempty"`
	// Replaced is the text of the value that ours took the place of, empty if there was
	// none.
	Replaced []byte `json:"status_line,omitempty"`
}

// mayGo describes the objects and arrays that become empty which ones go too:
// those that installing made; without a record all.
func (r *Record) mayGo(known bool) func(path string) bool {
	return func(path string) bool { return !known || r.Adopted || slices.Contains(r.Made, path) }
}

// note takes up that f, which held nothing of ours if foreign, becomes text.
func (r *Record) note(f target, text []byte, foreign bool) {
	switch {
	case foreign:
		r.Absent, r.Exact, r.Before, r.Made, r.Adopted, r.Prior = !f.exists, true, f.data, nil, false, ""
	case r.After == "":
		r.Adopted = true
	case r.untouched(f):
		r.Prior = digest(f.data)
	default:
		r.Exact, r.Before, r.Prior = false, nil, ""
	}
	r.After = digest(text)
}

// untouched reports whether nobody else has written f since: what was before us is
// still that.
func (r *Record) untouched(f target) bool {
	now := digest(f.data)
	return r.Exact && (r.After == now || r.Prior == now)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (e File) recordPath() string {
	return filepath.Join(e.Backup, "claude-"+digest([]byte(e.Path))[:12]+".json")
}

// Record returns the record of the file, and whether there is one. One
// that can't be read counts as none: TakeAll then removes our entries only.
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

// besideOurs reports whether the file's directory was made for another file of
// ours, in it or in a directory of it, that is still there. It is then that of both: whichever goes last takes it
// away.
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
