package dirfd

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// OpenRoot opens the directory path, which may itself be a symbolic link.
func OpenRoot(path string) (*Dir, error) {
	fd, err := openat(unix.AT_FDCWD, path, unix.O_DIRECTORY)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &Dir{fd: fd, path: path}, nil
}

// Open opens the directory name.
func (d *Dir) Open(name string) (*Dir, error) {
	err := checkName(name)
	if err != nil {
		return nil, d.fail("open", name, err)
	}
	fd, err := openat(d.fd, name, unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return nil, d.fail("open", name, err)
	}
	return &Dir{fd: fd, path: d.join(name)}, nil
}

// openat opens for reading, without changing the access time if that is permitted: only the file's
// owner may request it.
func openat(dir int, name string, flags int) (int, error) {
	flags |= unix.O_RDONLY | unix.O_CLOEXEC
	fd, err := openatRetry(dir, name, flags|noAtime, 0)
	if noAtime != 0 && errors.Is(err, unix.EPERM) {
		return openatRetry(dir, name, flags, 0)
	}
	return fd, err
}

func openatRetry(dir int, name string, flags int, perm uint32) (fd int, err error) {
	err = disk.IgnoreEINTR(func() error {
		fd, err = unix.Openat(dir, name, flags, perm)
		return err
	})
	return fd, err
}

// Close closes the directory.
func (d *Dir) Close() error {
	if err := unix.Close(d.fd); err != nil {
		return &fs.PathError{Op: "close", Path: d.path, Err: err}
	}
	d.fd = -1
	return nil
}

// Self fills to with the directory's own metadata.
func (d *Dir) Self(to *Stat) error {
	if err := fstat(d.fd, to); err != nil {
		return &fs.PathError{Op: "stat", Path: d.path, Err: err}
	}
	return nil
}

func fstat(fd int, to *Stat) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	fill(&st, to)
	return nil
}

// Names calls yield for each entry of the directory except "." and "..", in the order of the file
// system, with its name, which is only valid until yield returns, and its type if the file system
// reports it. It may use buf, which should be 8 KiB or more, and starts at the first entry each
// time. An error of yield stops it and is returned unchanged.
func (d *Dir) Names(buf []byte, yield func(name []byte, dtype byte) error) error {
	return names(d, buf, yield)
}

// Stat fills to with the metadata of the entry name.
func (d *Dir) Stat(name string, to *Stat) error {
	return d.fail("stat", name, statAt(d.fd, name, to))
}

// statByName implements statAt by fstatat, which every Unix has.
func statByName(dir int, name string, to *Stat) error {
	if err := checkName(name); err != nil {
		return err
	}
	var st unix.Stat_t
	err := disk.IgnoreEINTR(func() error { return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return err
	}
	fill(&st, to)
	return nil
}

// Readlink returns the target of the symbolic link name.
func (d *Dir) Readlink(name string) (string, error) {
	err := checkName(name)
	for size := 256; err == nil; size *= 4 {
		buf := make([]byte, size)
		var n int
		if n, err = unix.Readlinkat(d.fd, name, buf); err == nil && n < size {
			return string(buf[:n]), nil
		}
	}
	return "", d.fail("readlink", name, err)
}

// change performs one change of the directory.
func (d *Dir) change(op, name string, do func() error) error {
	if err := checkName(name); err != nil {
		return d.fail(op, name, err)
	}
	if err := step(d, op, name); err != nil {
		return err
	}
	return d.fail(op, name, disk.IgnoreEINTR(do))
}

// Create creates the file name, which must not exist, and opens it for reading and writing. perm is
// subject to the umask.
func (d *Dir) Create(name string, perm uint32) (*os.File, error) {
	fd := -1
	err := d.change("create", name, func() (err error) {
		fd, err = unix.Openat(d.fd, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, perm)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), d.join(name)), nil
}

// Mkdir creates the directory name. perm is subject to the umask.
func (d *Dir) Mkdir(name string, perm uint32) error {
	return d.change("mkdir", name, func() error { return unix.Mkdirat(d.fd, name, perm) })
}

// Rename moves the entry from to other, which may be d, under the name to. It replaces an existing
// entry of that name.
func (d *Dir) Rename(from string, other *Dir, to string) error {
	if err := checkName(from); err != nil {
		return d.fail("rename", from, err)
	}
	return other.change("rename", to, func() error { return unix.Renameat(d.fd, from, other.fd, to) })
}

// Exchange swaps two entries atomically. The error is errors.ErrUnsupported if the system or the
// file system can't do that.
func (d *Dir) Exchange(a, b string) error {
	if err := checkName(a); err != nil {
		return d.fail("exchange", a, err)
	}
	return d.change("exchange", b, func() error { return exchange(d.fd, a, b) })
}

// Unlink removes the entry name, which must not be a directory.
func (d *Dir) Unlink(name string) error {
	return d.change("unlink", name, func() error { return unix.Unlinkat(d.fd, name, 0) })
}

// Rmdir removes the empty directory name.
func (d *Dir) Rmdir(name string) error {
	return d.change("rmdir", name, func() error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) })
}

// Symlink creates the symbolic link name, which points to target.
func (d *Dir) Symlink(target, name string) error {
	return d.change("symlink", name, func() error { return unix.Symlinkat(target, d.fd, name) })
}

// Link creates the hard link name in other to the file from.
func (d *Dir) Link(from string, other *Dir, name string) error {
	if err := checkName(from); err != nil {
		return d.fail("link", from, err)
	}
	return other.change("link", name, func() error { return unix.Linkat(d.fd, from, other.fd, name, 0) })
}

// SetTime sets the modification time of the directory itself, as Entry.SetTime does.
func (d *Dir) SetTime(mtime time.Time) error {
	return d.changeSelf("utimes", func() error { return utimes(d.fd, ".", 0, mtime) })
}

// Chmod sets the permissions (07777) of the directory itself.
func (d *Dir) Chmod(mode uint32) error {
	return d.changeSelf("chmod", func() error { return unix.Fchmod(d.fd, mode&ModePerm) })
}

// Chown sets the owner of the directory itself.
func (d *Dir) Chown(uid, gid int) error {
	return d.changeSelf("chown", func() error { return unix.Fchown(d.fd, uid, gid) })
}

func (d *Dir) changeSelf(op string, do func() error) error {
	if err := step(d, op, "."); err != nil {
		return err
	}
	return d.fail(op, ".", disk.IgnoreEINTR(do))
}

// Duplicate returns the directory as a file that stays open after Close.
func (d *Dir) Duplicate() (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(d.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, d.fail("open", ".", err)
	}
	return os.NewFile(uintptr(fd), d.path), nil
}
