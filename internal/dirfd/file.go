package dirfd

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// StatFile fills to with the metadata of an open file.
func StatFile(f *os.File, to *Stat) error {
	return disk.Syscall("stat", f, func(fd int) error { return fstat(fd, to) })
}

// OpenFile opens the regular file name for reading. It never blocks, as opening a FIFO would: for
// anything but a regular file the error is ErrNotRegular, or the system's error.
func (d *Dir) OpenFile(name string) (*os.File, error) {
	var st Stat
	f, err := d.openRegular(name, &st)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(f.fd), d.join(name)), nil
}

// ReadSmall reads the regular file name into buf if it fits, and fills before and after with the
// metadata before and after reading. It returns the number of bytes read. They are the content of
// the file if before and after agree in Size, Mtime and Ctime and the number equals Size. A file
// larger than buf is not read: n is -1.
func (d *Dir) ReadSmall(name string, buf []byte, before, after *Stat) (n int, err error) {
	f, err := d.openRegular(name, before)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	return f.read(buf, before, after)
}

// ReadSettled is ReadSmall after disk.WaitForWritersFD, and also returns the file's extended attributes.
func (d *Dir) ReadSettled(name string, buf []byte, before, after *Stat) (n int, list []Xattr, err error) {
	f, err := d.openRegular(name, before)
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	if before.Size <= int64(len(buf)) {
		disk.WaitForWritersFD(f.fd)
		if list, err = (Xattrs{path: d.join(name), fd: f.fd}).List(); err != nil {
			return 0, list, err
		}
	}
	n, err = f.read(buf, before, after)
	return n, list, err
}

// regular is a regular file open for reading.
type regular struct {
	dir  *Dir
	name string
	fd   int
}

// openRegular opens a regular file and fills st with its metadata.
func (d *Dir) openRegular(name string, st *Stat) (regular, error) {
	if err := checkName(name); err != nil {
		return regular{}, d.fail("open", name, err)
	}
	fd, err := openat(d.fd, name, unix.O_NOFOLLOW|unix.O_NONBLOCK)
	if err != nil {
		return regular{}, d.fail("open", name, err)
	}
	f := regular{dir: d, name: name, fd: fd}
	err = fstat(fd, st)
	if err == nil && !st.IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		return regular{}, d.fail("open", name, errors.Join(err, f.close()))
	}
	return f, nil
}

func (f regular) close() error { return unix.Close(f.fd) }

// read reads the file, whose metadata is before, as ReadSmall does.
func (f regular) read(buf []byte, before, after *Stat) (n int, err error) {
	if before.Size > int64(len(buf)) {
		return -1, nil
	}
	for got := 1; got > 0 && int64(n) < before.Size; n += got {
		err := disk.IgnoreEINTR(func() (err error) {
			got, err = unix.Pread(f.fd, buf[n:before.Size], int64(n))
			return err
		})
		if err != nil {
			return 0, f.dir.fail("read", f.name, err)
		}
	}
	return n, f.dir.fail("stat", f.name, fstat(f.fd, after))
}
