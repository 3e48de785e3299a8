package githook

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// namedDir is the folder with links to backups that have the names of their hooks:
// "hooks.pre-entire" beside "hooks".
func (d hookDir) namedDir() string { return d.path + backupSuffix }

// keepName makes a link of the hook's name to its backup, if that leads to a program to
// which other hooks lead, too, as overcommit's do: such a program takes from its own name
// which hook it is. Others run as the backup itself, from their own folder.
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

// targetOf is where the link of a hook's name leads.
func (d hookDir) targetOf(name string) string {
	return filepath.Join("..", filepath.Base(d.path), name+backupSuffix)
}

// isShared reports whether another hook than the one of that name leads to the target.
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

// hasName reports whether there is the link of keepName.
func (d hookDir) hasName(name string) bool {
	target, err := os.Readlink(filepath.Join(d.namedDir(), name))
	return err == nil && target == d.targetOf(name)
}

// clearName removes the link of a hook's name, and its folder if it was the last.
func (d hookDir) clearName(name string) error {
	if !d.hasName(name) {
		return nil
	}
	path := filepath.Join(d.namedDir(), name)
	if err := disk.Step("remove", path); err != nil {
		return err
	}
	err := os.Remove(path)
	_ = os.Remove(d.namedDir()) // stays if it isn't empty
	return err
}
