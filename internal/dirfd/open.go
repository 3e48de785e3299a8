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

// openat opens for reading, without a trace in the access time where that is
// allowed: only the file's owner may ask for it.
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

// Self fills to with the directory's own data.
func (d *Dir) Self(to *Stat) error {
	if err := fstat(d.fd, to); err != nil {
		return &fs.PathError{Op: "stat", Path: d.path, Err: err}
	}
	return nil
}

// StatFile fills to with the data of an open file.
func StatFile(f *os.File, to *Stat) error {
	return disk.Syscall("stat", f, func(fd int) error { return fstat(fd, to) })
}

func fstat(fd int, to *Stat) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	fill(&st, to)
	return nil
}

// Stat fills to with the data of the entry name.
func (d *Dir) Stat(name string, to *Stat) error {
	return d.fail("stat", name, statAt(d.fd, name, to))
}

// statByName is statAt by the call that every Unix has.
func statByName(dir int, name string, to *Stat) error {
	var st unix.Stat_t
	if err := fstatat(dir, name, &st); err != nil {
		return err
	}
	fill(&st, to)
	return nil
}

// OpenFile opens the regular file name for reading. It never waits, as opening
// a FIFO does: what isn't a regular file is ErrNotRegular, or the system's error.
func (d *Dir) OpenFile(name string) (*os.File, error) {
	var st Stat
	fd, err := d.openStat(name, &st)
	if err != nil {
		return nil, d.fail("open", name, err)
	}
	return os.NewFile(uintptr(fd), d.join(name)), nil
}

// openStat opens a regular file and fills st with its metadata.
func (d *Dir) openStat(name string, st *Stat) (int, error) {
	if err := checkName(name); err != nil {
		return -1, err
	}
	fd, err := openat(d.fd, name, unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if err != nil {
		return -1, err
	}
	err = fstat(fd, st)
	if err == nil && !st.IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// ReadSmall reads the regular file name into buf if it fits in there, and fills
// before and after with its data at both ends. It returns the length read: what
// was at the beginning of buf is the file if before and after agree in Size,
// Mtime and Ctime and the length is the Size. A file larger than buf is not
// read: n is -1.
func (d *Dir) ReadSmall(name string, buf []byte, before, after *Stat) (n int, err error) {
	return d.readSmall(name, buf, before, after, func(int) error { return nil })
}

// ReadSettled is ReadSmall after StartWriteback, and returns the file's extended
// attributes too.
func (d *Dir) ReadSettled(name string, buf []byte, before, after *Stat) (n int, list []Xattr, err error) {
	n, err = d.readSmall(name, buf, before, after, func(fd int) (err error) {
		disk.StartWritebackFD(fd)
		list, err = Xattrs{path: d.join(name), fd: fd}.List()
		return err
	})
	return n, list, err
}

// readSmall reads a file; prepare comes before what is read.
func (d *Dir) readSmall(name string, buf []byte, before, after *Stat, prepare func(fd int) error) (n int, err error) {
	fd, err := d.openStat(name, before)
	if err != nil {
		return 0, d.fail("open", name, err)
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	if before.Size > int64(len(buf)) {
		return -1, nil
	}
	if err := prepare(fd); err != nil {
		return 0, err
	}
	for got := 1; got > 0 && int64(n) < before.Size; n += got {
		err := disk.IgnoreEINTR(func() (err error) {
			got, err = unix.Pread(fd, buf[n:before.Size], int64(n))
			return err
		})
		if err != nil {
			return 0, d.fail("read", name, err)
		}
	}
	return n, d.fail("stat", name, fstat(fd, after))
}

// Readlink returns where the symbolic link name points.
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

// change makes one change to the directory.
func (d *Dir) change(op, name string, do func() error) error {
	if err := checkName(name); err != nil {
		return d.fail(op, name, err)
	}
	if err := d.step(op, name); err != nil {
		return err
	}
	return d.fail(op, name, disk.IgnoreEINTR(do))
}

// Create makes the file name, which must not be there, and opens it for reading
// and writing. perm goes through the umask.
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

// Mkdir makes the directory name. perm goes through the umask.
func (d *Dir) Mkdir(name string, perm uint32) error {
	return d.change("mkdir", name, func() error { return unix.Mkdirat(d.fd, name, perm) })
}

// Rename gives the entry from the name to, in place of what has that name.
func (d *Dir) Rename(from, to string) error { return d.RenameTo(from, d, to) }

// RenameTo moves the entry from to other, under the name to.
func (d *Dir) RenameTo(from string, other *Dir, to string) error {
	if err := checkName(from); err != nil {
		return d.fail("rename", from, err)
	}
	return other.change("rename", to, func() error { return unix.Renameat(d.fd, from, other.fd, to) })
}

// Exchange swaps two entries atomically; errors.ErrUnsupported
// where the system or the file system can't.
func (d *Dir) Exchange(a, b string) error {
	if err := checkName(a); err != nil {
		return d.fail("exchange", a, err)
	}
	return d.change("exchange", b, func() error { return exchange(d.fd, a, b) })
}

// Unlink removes the entry name, which is no directory.
func (d *Dir) Unlink(name string) error {
	return d.change("unlink", name, func() error { return unix.Unlinkat(d.fd, name, 0) })
}

// Rmdir removes the empty directory name.
func (d *Dir) Rmdir(name string) error {
	return d.change("rmdir", name, func() error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) })
}

// Symlink makes the symbolic link name, which points to target.
func (d *Dir) Symlink(target, name string) error {
	return d.change("symlink", name, func() error { return unix.Symlinkat(target, d.fd, name) })
}

// Link makes name in other one more name of the file from.
func (d *Dir) Link(from string, other *Dir, name string) error {
	if err := checkName(from); err != nil {
		return d.fail("link", from, err)
	}
	return other.change("link", name, func() error { return unix.Linkat(d.fd, from, other.fd, name, 0) })
}

// SetTime sets when the entry name was last modified, and leaves its access time
// as it is. A time that the file system can't store becomes the nearest that it can.
func (d *Dir) SetTime(name string, mtime time.Time) error {
	return d.change("utimes", name, func() error { return utimes(d.fd, name, unix.AT_SYMLINK_NOFOLLOW, mtime) })
}

// SetOwnTime is SetTime for the directory itself.
func (d *Dir) SetOwnTime(mtime time.Time) error {
	if err := d.step("utimes", "."); err != nil {
		return err
	}
	return d.fail("utimes", ".", disk.IgnoreEINTR(func() error { return utimes(d.fd, ".", 0, mtime) }))
}

func utimes(dir int, name string, flags int, mtime time.Time) error {
	ts, err := unix.TimeToTimespec(mtime)
	if err != nil {
		return err
	}
	return unix.UtimesNanoAt(dir, name, []unix.Timespec{{Nsec: utimeOmit}, ts}, flags)
}

// Chmod sets the permissions (07777) of the entry name, which is no symbolic
// link: where links have none of their own it fails.
func (d *Dir) Chmod(name string, mode uint32) error {
	return d.change("chmod", name, func() error { return fchmodat(d.fd, name, mode&ModePerm) })
}

// Lchown sets the owner of the entry name.
func (d *Dir) Lchown(name string, uid, gid int) error {
	return d.change("chown", name, func() error { return unix.Fchownat(d.fd, name, uid, gid, unix.AT_SYMLINK_NOFOLLOW) })
}

// Duplicate returns the directory as a file that outlives it.
func (d *Dir) Duplicate() (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(d.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, d.fail("open", ".", err)
	}
	return os.NewFile(uintptr(fd), d.path), nil
}
