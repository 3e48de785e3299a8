package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/btrfs"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// whole is a driver that can make all files of a snapshot appear in a folder at once, writable. It
// can't if the folder is on another file system than the snapshots.
type whole interface {
	appear(snapshot, to string) error
}

// Scratch creates the folder to, which must not exist, with the files of a snapshot, to be changed:
// a copy of the volume if the driver and the place permit it, else a copy of each file, which
// shares its blocks if the file system can do that. It has no repository: the names of Hidden are
// left out, and each .git that is a file or a symbolic link, as git would write into the repository
// that it leads to.
func Scratch(ctx context.Context, s *bands.Store, snap bands.Snapshot, to string) error {
	d, ok := Named(snap.Volume, Place{Store: s.Dir()})
	if !ok {
		return fmt.Errorf("read %s: %w", snap.Version, ErrNotVolume)
	}
	if driver, can := d.(whole); !can || driver.appear(s.VolumeDir(snap.Version), to) != nil {
		if err := errors.Join(RemoveScratch(to), copyFiles(ctx, s, snap, to)); err != nil {
			return err
		}
	}
	for _, name := range Hidden() {
		if err := os.RemoveAll(filepath.Join(to, name)); err != nil {
			return err
		}
	}
	root, err := dirfd.OpenRoot(to)
	if err != nil {
		return err
	}
	_, err = RemoveLinks(ctx, root)
	return errors.Join(err, root.Close())
}

// copyFiles copies the files of a snapshot.
func copyFiles(ctx context.Context, s *bands.Store, snap bands.Snapshot, to string) (err error) {
	view, err := Open(s, snap)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	done, err := view.Export(ctx, to, ExportOptions{Hidden: Hidden()})
	if err == nil && len(done.Failed) > 0 {
		err = fmt.Errorf("copy %s: %s: %w", snap.Version, done.Failed[0].Path, errors.Join(bands.ErrDamaged, done.Failed[0].Err))
	}
	return err
}

// RemoveLinks removes each .git that isn't a directory, in a directory and below it, and returns
// the paths of the directories that had one.
func RemoveLinks(ctx context.Context, root *dirfd.Dir) (in []string, err error) {
	var walk func(d *dirfd.Dir, at string) error
	walk = func(d *dirfd.Dir, at string) error {
		var dirs []string
		link := false
		err := d.Names(make([]byte, nameRoom), func(name []byte, kind byte) error {
			var st dirfd.Stat
			switch kind {
			case dirfd.TypeUnknown:
				if err := d.Stat(string(name), &st); err != nil {
					return err
				}
			case dirfd.TypeDir:
				st.Mode = dirfd.ModeDir
			}
			switch {
			case st.IsDir():
				dirs = append(dirs, string(name))
			case string(name) == ".git":
				link = true
			}
			return nil
		})
		if err == nil && link {
			in = append(in, at)
			err = d.Unlink(".git")
		}
		for _, name := range dirs {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			inner, bad := d.Open(name)
			if bad != nil {
				return bad
			}
			err = errors.Join(walk(inner, path.Join(at, name)), inner.Close())
		}
		return err
	}
	return in, walk(root, "")
}

// RemoveScratch removes the results of Scratch, also those of a killed process.
func RemoveScratch(to string) error {
	if btrfs.IsSubvolume(to) && btrfs.Remove(to) == nil {
		return nil
	}
	if err := disappear(to); err != nil {
		return err
	}
	return disk.RemoveTree(to, nil)
}
