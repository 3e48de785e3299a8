package claude

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// target is a settings file as it was read.
type target struct {
	path      string // with symbolic links followed
	dir       string // the directory of the path as given
	data      []byte
	mode      fs.FileMode
	exists    bool
	dirExists bool
}

func readTarget(path string) (target, error) {
	f := target{dir: filepath.Dir(path), mode: 0o644}
	_, err := os.Stat(f.dir)
	f.dirExists = err == nil
	if f.path, err = followLinks(path); err != nil {
		return f, err
	}
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	if !info.Mode().IsRegular() {
		return f, fmt.Errorf("%s is not a regular file", f.path)
	}
	f.data, err = os.ReadFile(f.path)
	f.mode, f.exists = info.Mode().Perm(), err == nil
	return f, err
}

// followLinks returns what path names once its symbolic links are followed,
// also when the file itself isn't there yet.
func followLinks(path string) (string, error) {
	const most = 40
	for range most {
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil //nolint:nilerr // no link: path names the file itself, or where it will be
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", fmt.Errorf("follow %s: %w", path, syscall.ELOOP)
}

// replace gives the file new content in one step, unless somebody has written
// it since it was read: then the error is errChanged.
func (f target) replace(data []byte) error {
	if err := f.makeDir(); err != nil {
		return err
	}
	temp := f.path + ".entire-tmp-" + strconv.Itoa(os.Getpid())
	if err := disk.WriteDurable(temp, data, f.mode); err != nil {
		return err
	}
	err := f.unchanged()
	if err == nil {
		err = disk.Step("rename", f.path)
	}
	if err == nil {
		err = os.Rename(temp, f.path)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(temp)))
	}
	return nil
}

func (f target) makeDir() error {
	if f.dirExists {
		return nil
	}
	if err := disk.Step("mkdir", f.dir); err != nil {
		return err
	}
	return os.MkdirAll(f.dir, 0o755)
}

// unchanged compares the file with what was read.
func (f target) unchanged() error {
	now, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) && !f.exists {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil || !f.exists || !bytes.Equal(now, f.data) {
		return errChanged
	}
	return nil
}

func (f target) remove() error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := disk.Step("remove", f.path); err != nil {
		return err
	}
	return os.Remove(f.path)
}

// removeDir removes the file's directory if it is empty.
func (f target) removeDir() error {
	if err := disk.Step("remove", f.dir); err != nil {
		return err
	}
	err := os.Remove(f.dir)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return nil
	}
	return ignoreMissing(err)
}

// record is what Install remembers of a settings file, so that Uninstall can
// give back its bytes.
type record struct {
	Path    string `json:"path"`
	MadeDir bool   `json:"made_dir,omitempty"` // its directory is ours
	Absent  bool   `json:"absent,omitempty"`   // there was no file
	// Exact: Before is the whole file without anything of ours, and a file
	// with the digest After differs from it by our entries only.
	Exact  bool   `json:"exact,omitempty"`
	Before []byte `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Made are the objects and arrays that weren't there. Adopted: somebody
	// had installed before us, so it isn't known.
	Made    []string `json:"made,omitempty"`
	Adopted bool     `json:"adopted,omitempty"`
}

// note takes up that f, which held nothing of ours if foreign, becomes text.
func (r *record) note(f target, text []byte, foreign bool) {
	switch {
	case foreign:
		r.Absent, r.Exact, r.Before, r.Made, r.Adopted = !f.exists, true, f.data, nil, false
	case r.After == "":
		r.Adopted = true
	case r.Exact && r.After == digest(f.data):
		// Nobody else wrote since: what was before us is still that.
	default:
		r.Exact, r.Before = false, nil
	}
	r.After = digest(text)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (s Settings) recordPath() string {
	return filepath.Join(s.Backup, "claude-"+digest([]byte(s.Path))[:12]+".json")
}

// readRecord returns the record of the file, and whether there is one. One
// that can't be read counts as none: Uninstall then removes our entries only.
func (s Settings) readRecord() (record, bool, error) {
	rec := record{Path: s.Path}
	data, err := os.ReadFile(s.recordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return rec, false, nil
	}
	if err != nil {
		return rec, false, err
	}
	if json.Unmarshal(data, &rec) == nil && rec.Path == s.Path {
		return rec, true, nil
	}
	return record{Path: s.Path}, false, nil
}

func (s Settings) writeRecord(rec record) error {
	if err := disk.Step("mkdir", s.Backup); err != nil {
		return err
	}
	if err := os.MkdirAll(s.Backup, 0o750); err != nil {
		return err
	}
	data, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return err
	}
	return disk.WriteDurable(s.recordPath(), append(data, '\n'), 0o600)
}

func (s Settings) removeRecord() error {
	if err := disk.Step("remove", s.recordPath()); err != nil {
		return err
	}
	if err := ignoreMissing(os.Remove(s.recordPath())); err != nil {
		return err
	}
	_ = os.Remove(s.Backup) // only if nothing else is in it
	return nil
}
