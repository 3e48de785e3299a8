package dirfd

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// xattrRoom is enough for the names that most files have.
const xattrRoom = 256

// ListXattrs returns the extended attributes of an open file or directory, by
// name; none where the file system has none. Labels that a security module
// gives are not among them.
func ListXattrs(f *os.File) ([]Xattr, error) {
	list, err := listXattrs(f.Name(), fdXattrs(int(f.Fd())))
	runtime.KeepAlive(f)
	return list, err
}

// Xattrs is ListXattrs of the directory itself.
func (d *Dir) Xattrs() ([]Xattr, error) { return listXattrs(d.path, fdXattrs(d.fd)) }

// LinkXattrs is ListXattrs of the file at path; of a symbolic link's own.
func LinkXattrs(path string) ([]Xattr, error) { return listXattrs(path, pathXattrs(path)) }

// EntryXattrs is ListXattrs of the entry name; of a symbolic link's own.
func (d *Dir) EntryXattrs(name string) (list []Xattr, err error) {
	err = d.byPath(name, func(path string) error {
		list, err = LinkXattrs(path)
		return err
	})
	return list, err
}

// SetEntryXattr sets one of the entry name; a symbolic link's own.
func (d *Dir) SetEntryXattr(name, attr string, value []byte) error {
	return d.byPath(name, func(path string) error { return SetLinkXattr(path, attr, value) })
}

// RemoveEntryXattr removes one of the entry name; a symbolic link's own.
func (d *Dir) RemoveEntryXattr(name, attr string) error {
	return d.byPath(name, func(path string) error { return RemoveLinkXattr(path, attr) })
}

// byPath calls do with a path of the entry, for what the system offers by path
// only: one that leads through the descriptor, else the path for messages.
func (d *Dir) byPath(name string, do func(path string) error) error {
	if err := checkName(name); err != nil {
		return d.fail("xattr", name, err)
	}
	if path := procPath(d.fd, name); path != "" {
		err := do(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// It went, or /proc isn't mounted.
	}
	return do(d.join(name))
}

// SetXattr sets an extended attribute of an open file or directory. Where the
// file system has none the error is errors.ErrUnsupported.
func SetXattr(f *os.File, name string, value []byte) error {
	defer runtime.KeepAlive(f)
	return changeXattr("setxattr", f.Name(), func() error { return unix.Fsetxattr(int(f.Fd()), name, value, 0) })
}

// SetXattr sets an extended attribute of the directory itself.
func (d *Dir) SetXattr(name string, value []byte) error {
	return changeXattr("setxattr", d.path, func() error { return unix.Fsetxattr(d.fd, name, value, 0) })
}

// SetLinkXattr sets one of the file at path; a symbolic link's own.
func SetLinkXattr(path, name string, value []byte) error {
	return changeXattr("setxattr", path, func() error { return unix.Lsetxattr(path, name, value, 0) })
}

// RemoveXattr removes an extended attribute of an open file or directory, if
// it has it.
func RemoveXattr(f *os.File, name string) error {
	defer runtime.KeepAlive(f)
	return changeXattr("removexattr", f.Name(), func() error { return unix.Fremovexattr(int(f.Fd()), name) })
}

// RemoveXattr removes an extended attribute of the directory itself, if it has
// it.
func (d *Dir) RemoveXattr(name string) error {
	return changeXattr("removexattr", d.path, func() error { return unix.Fremovexattr(d.fd, name) })
}

// RemoveLinkXattr removes one of the file at path; a symbolic link's own.
func RemoveLinkXattr(path, name string) error {
	return changeXattr("removexattr", path, func() error { return unix.Lremovexattr(path, name) })
}

func changeXattr(op, path string, do func() error) error {
	if err := disk.Step(op, path); err != nil {
		return err
	}
	err := disk.IgnoreEINTR(do)
	if err == nil || op == "removexattr" && errors.Is(err, errNoXattr) {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// xattrs reads the attributes of one file: the list of names, and a value.
type xattrs struct {
	list func(to []byte) (int, error)
	get  func(name string, to []byte) (int, error)
}

func fdXattrs(fd int) xattrs {
	return xattrs{
		list: func(to []byte) (int, error) { return unix.Flistxattr(fd, to) },
		get:  func(name string, to []byte) (int, error) { return unix.Fgetxattr(fd, name, to) },
	}
}

func pathXattrs(path string) xattrs {
	return xattrs{
		list: func(to []byte) (int, error) { return unix.Llistxattr(path, to) },
		get:  func(name string, to []byte) (int, error) { return unix.Lgetxattr(path, name, to) },
	}
}

func listXattrs(path string, x xattrs) ([]Xattr, error) {
	names, err := whole(x.list)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil, nil
	case err != nil:
		return nil, &fs.PathError{Op: "listxattr", Path: path, Err: err}
	case len(names) == 0:
		return nil, nil
	}
	var list []Xattr
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		if !ours(name) {
			continue
		}
		value, err := whole(func(to []byte) (int, error) { return x.get(name, to) })
		switch {
		case errors.Is(err, errNoXattr), errors.Is(err, errors.ErrUnsupported):
			// It went meanwhile, or is a name without a value.
		case err != nil:
			return nil, &fs.PathError{Op: "getxattr " + name, Path: path, Err: err}
		default:
			list = append(list, Xattr{Name: name, Value: value})
		}
	}
	slices.SortFunc(list, func(a, b Xattr) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// whole reads what may be longer than expected, and may grow meanwhile.
func whole(read func(to []byte) (int, error)) ([]byte, error) {
	for buf := make([]byte, xattrRoom); ; {
		n, err := read(buf)
		switch {
		case err == nil:
			return buf[:n], nil
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.ERANGE):
			return nil, err
		}
		if n, err = read(nil); err != nil {
			return nil, err
		}
		buf = make([]byte, n+xattrRoom)
	}
}
