package githook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// hookDir is a directory for our scripts.
type hookDir struct {
	path string
	form form
}

// file is the state of a hook file.
type file struct {
	origin origin
	info   fs.FileInfo // nil if the file is missing; of a symbolic link itself, not of its target
	text   string      // the target of a symbolic link
}

// read reads the hook name. Anything but a regular file is foreign.
func (d hookDir) read(name string) (file, error) { return d.readAs(name, name) }

// readAs reads the file base and examines it as the hook name.
func (d hookDir) readAs(name, base string) (file, error) {
	path := filepath.Join(d.path, base)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file{origin: absent}, nil
	}
	if err != nil {
		return file{}, err
	}
	f := file{origin: foreign, info: info}
	if info.Mode()&fs.ModeSymlink != 0 {
		f.text, err = os.Readlink(path)
		return f, err
	}
	if !info.Mode().IsRegular() {
		return f, nil
	}
	text, err := disk.ReadFile(path)
	if err != nil {
		return f, err
	}
	f.text = string(text)
	f.origin = originOf(name, d.form, f.text)
	if f.origin == current && info.Mode().Perm()&0o111 != 0o111 {
		f.origin = ours
	}
	return f, nil
}

// install installs our script for the hook name. A foreign hook is first linked or copied to its
// backup, so that at every moment either the foreign hook or our script, which runs it, is in
// place.
func (d hookDir) install(name string) (note string, err error) {
	f, err := d.read(name)
	if err != nil {
		return "", err
	}
	switch f.origin {
	case current:
		return "", nil
	case edited:
		return name + " has lines that entire didn't write, so it stays as it is", nil
	case foreign:
		if note, err = d.setAside(name, f); err != nil {
			return "", err
		}
	case absent, ours:
	}
	if err := d.keepName(name); err != nil {
		return "", err
	}
	return note, disk.WriteDurable(filepath.Join(d.path, name), []byte(script(name, d.form)), 0o755)
}

// setAside creates the backup of name from the foreign hook f.
func (d hookDir) setAside(name string, f file) (note string, err error) {
	backup, note, err := d.settleBackup(name, f)
	if err != nil {
		return "", err
	}
	switch {
	case backup.info == nil:
	case os.SameFile(backup.info, f.info):
		return note, nil
	case same(backup, f):
		err = d.remove(name + backupSuffix)
	default:
		note, err = d.archive(name)
	}
	if err != nil {
		return "", err
	}
	path := filepath.Join(d.path, name)
	if f.info.IsDir() {
		return note, disk.Rename(path, path+backupSuffix)
	}
	// The backup is a hard link, or a copy if the file system has no hard links.
	if err := disk.Step("link", path+backupSuffix); err != nil {
		return note, err
	}
	if os.Link(path, path+backupSuffix) == nil {
		return note, nil
	}
	if f.info.Mode()&fs.ModeSymlink != 0 {
		return note, os.Symlink(f.text, path+backupSuffix)
	}
	if !f.info.Mode().IsRegular() {
		return note, os.Rename(path, path+backupSuffix)
	}
	return note, disk.WriteDurable(path+backupSuffix, []byte(f.text), f.info.Mode().Perm())
}

// same reports whether two files differ only in their names.
func same(a, b file) bool {
	isComparable := a.info.Mode().IsRegular() || a.info.Mode()&fs.ModeSymlink != 0
	return isComparable && a.info.Mode() == b.info.Mode() && a.text == b.text
}

// settleBackup moves an older backup of the foreign hook f to the place that it would have without
// our script. The tool that installed f may have moved our script aside, as pre-commit does to run
// it. The older hook then replaces the moved script, unless it is an earlier hook of the same tool.
// It returns the remaining backup.
func (d hookDir) settleBackup(name string, f file) (file, string, error) {
	backup, err := d.readAs(name, name+backupSuffix)
	if err != nil {
		return file{}, "", err
	}
	moved, err := d.moved(name)
	if err != nil {
		return file{}, "", err
	}
	note := ""
	if len(moved) > 0 && backup.info != nil && !sameTool(backup.text, f.text) {
		from, to := filepath.Join(d.path, name+backupSuffix), filepath.Join(d.path, moved[0])
		if err := disk.Rename(from, to); err != nil {
			return file{}, "", err
		}
		note = fmt.Sprintf("%s replaced %s and runs the one before as %s", name, name+backupSuffix, moved[0])
		backup, moved = file{}, moved[1:]
	}
	for _, base := range moved {
		if err := d.remove(base); err != nil {
			return file{}, "", err
		}
	}
	return backup, note, nil
}

// moved lists the copies of our script for name that other tools made by renaming it:
// "<name>.legacy", "<name>.old" and the like.
func (d hookDir) moved(name string) ([]string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		base := e.Name()
		if !strings.HasPrefix(base, name+".") || strings.HasPrefix(base, name+backupSuffix) {
			continue
		}
		f, err := d.readAs(name, base)
		if err != nil {
			return nil, err
		}
		if f.origin == current || f.origin == ours {
			found = append(found, base)
		}
	}
	return found, nil
}

// archive renames a backup whose hook was replaced by another tool's.
func (d hookDir) archive(name string) (note string, err error) {
	backup := filepath.Join(d.path, name+backupSuffix)
	for n := 1; ; n++ {
		kept := backup + "." + strconv.Itoa(n)
		if _, err := os.Lstat(kept); errors.Is(err, fs.ErrNotExist) {
			note := fmt.Sprintf("%s was replaced by another tool; the hook before it is kept as %s", name, filepath.Base(kept))
			return note, disk.Rename(backup, kept)
		}
	}
}

// uninstall restores the former state of the hook name.
func (d hookDir) uninstall(name string) (note string, changed bool, err error) {
	f, err := d.read(name)
	if err != nil {
		return "", false, err
	}
	switch f.origin {
	case edited:
		return name + " has lines that entire didn't write, so it stays as it is", false, nil
	case foreign:
		// Clean up what was installed beside the hook that has replaced ours.
		moved, err := d.moved(name)
		if err != nil {
			return "", false, err
		}
		backup, note, err := d.settleBackup(name, f)
		if err != nil {
			return "", false, err
		}
		if backup.info == nil {
			return note, len(moved) > 0, nil
		}
		if os.SameFile(backup.info, f.info) || same(backup, f) {
			return note, true, d.remove(name + backupSuffix)
		}
		return fmt.Sprintf("%s was replaced by another tool; the hook before it is still %s", name, name+backupSuffix), len(moved) > 0, nil
	case absent, current, ours:
	}
	path := filepath.Join(d.path, name)
	backup, err := os.Lstat(path + backupSuffix)
	hasBackup := err == nil
	if f.origin == absent && !hasBackup {
		return "", false, nil
	}
	if f.origin != absent && (!hasBackup || backup.IsDir()) { // a directory can't replace a file
		if err := d.remove(name); err != nil {
			return "", false, err
		}
	}
	if !hasBackup {
		return "", true, nil
	}
	return "", true, disk.Rename(path+backupSuffix, path)
}

func (d hookDir) remove(base string) error {
	return disk.Remove(filepath.Join(d.path, base))
}

// runs reports whether git would run the file name in the directory dir.
func runs(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
