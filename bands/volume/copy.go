package volume

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// replaceCopy makes to a copy of the file or folder from, whatever it was. Files share
// their blocks where the file system can do that; modes, owners, times and extended
// attributes are kept.
// Sockets and devices are left out.
func replaceCopy(from, to string) error {
	if err := disk.Step("copy", to); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return copyTree(from, to)
}

func copyTree(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return errors.Join(os.Symlink(target, to), copyOwner(to, info))
	case info.Mode().IsRegular():
		if err := disk.Place(disk.Reflink, from, to); err != nil {
			return err
		}
	case info.IsDir():
		if err := copyFolder(from, to); err != nil {
			return err
		}
	default:
		return nil
	}
	return errors.Join(copyXattrs(from, to), likeness(to, info))
}

// likeness gives a copy the owner, mode and time of what it was copied from.
func likeness(to string, info fs.FileInfo) error {
	return errors.Join(copyOwner(to, info), os.Chmod(to, info.Mode()), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// copyXattrs gives a copy the extended attributes of what it was copied from, as far as
// its file system has them.
func copyXattrs(from, to string) error {
	a, err := os.Open(from)
	if err != nil {
		return err
	}
	list, err := dirfd.FileXattrs(a).List()
	if err = errors.Join(err, a.Close()); err != nil || len(list) == 0 {
		return err
	}
	b, err := os.Open(to)
	if err != nil {
		return err
	}
	for _, x := range list {
		if bad := dirfd.FileXattrs(b).Set(x.Name, x.Value); !errors.Is(bad, errors.ErrUnsupported) {
			err = errors.Join(err, bad)
		}
	}
	return errors.Join(err, b.Close())
}

func copyFolder(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if err := copyTree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copyOwner gives the copy the owner of what it was copied from, if it has another.
func copyOwner(to string, info fs.FileInfo) error {
	uid, gid := owner(info)
	if uid == os.Geteuid() && gid == os.Getegid() {
		return nil
	}
	return os.Lchown(to, uid, gid)
}

// owner are the user and the group of a file; ours if they aren't known.
func owner(info fs.FileInfo) (uid, gid int) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return os.Geteuid(), os.Getegid()
	}
	return int(st.Uid), int(st.Gid)
}
