package githook

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// namedDir returns the folder with links to backups that are named like their hooks:
// "hooks.pre-entire" beside "hooks".
func (d hookDir) namedDir() string { return d.path + backupSuffix }

// keepName creates a link named like the hook to its backup, if the backup is a link to a program
// to which links of other hooks lead, too, as with overcommit: such a program determines the hook
// from its own name. Other backups are run directly, in their own folder.
func (d hookDir) keepName(name string) error {
	if d.form != besideForm {
		return nil
	}
	backup, err := d.readAs(name, name+backupSuffix)
	if err != nil {
		return err
	}
	isLink := backup.info != nil && backup.info.Mode()&fs.ModeSymlink != 0
	if !isLink || !d.isShared(name, backup.text) {
		return d.clearName(name) // of an earlier hook
	}
	if d.hasName(name) {
		return nil
	}
	path := filepath.Join(d.namedDir(), name)
	if err := disk.Step("link", path); err != nil {
		return err
	}
	err = os.Mkdir(d.namedDir(), 0o755)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Symlink(d.targetOf(name), path)
}

// targetOf returns the target of the link named like a hook.
func (d hookDir) targetOf(name string) string {
	return filepath.Join("..", filepath.Base(d.path), name+backupSuffix)
}

// isShared reports whether the link of a hook other than name has the same target.
func (d hookDir) isShared(name, target string) bool {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 || e.Name() == name || strings.HasPrefix(e.Name(), name+backupSuffix) {
			continue
		}
		if other, err := os.Readlink(filepath.Join(d.path, e.Name())); err == nil && other == target {
			return true
		}
	}
	return false
}

// hasName reports whether the link of keepName exists.
func (d hookDir) hasName(name string) bool {
	target, err := os.Readlink(filepath.Join(d.namedDir(), name))
	return err == nil && target == d.targetOf(name)
}

// clearName removes the link named like a hook, and its folder if it is empty then.
func (d hookDir) clearName(name string) error {
	if !d.hasName(name) {
		return nil
	}
	err := disk.Remove(filepath.Join(d.namedDir(), name))
	_ = os.Remove(d.namedDir()) // fails if it isn't empty
	return err
}
