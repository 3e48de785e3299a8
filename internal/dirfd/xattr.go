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

// xattrRoom is the initial buffer size, sufficient for the names of most files.
const xattrRoom = 256

// Xattr is an extended attribute.
type Xattr struct {
	Name  string
	Value []byte
}

// Xattrs accesses the extended attributes of one file, except labels of security modules. It must
// not be used after its file or directory is closed.
type Xattrs struct {
	path string   // path used if fd is -1, and in messages
	via  string   // tried before path, if not empty
	fd   int      // -1: by path
	file *os.File // owner of fd, kept open; nil if it is a Dir
	err  error    // returned by every call
}

// FileXattrs returns the attributes of an open file or directory.
func FileXattrs(f *os.File) Xattrs { return Xattrs{path: f.Name(), fd: int(f.Fd()), file: f} }

// DirXattrs returns the attributes of an open directory.
func DirXattrs(d *Dir) Xattrs { return Xattrs{path: d.path, fd: d.fd} }

// EntryXattrs returns the attributes of the entry name, without following a symbolic link. The
// system offers these by path only: a path through the descriptor is tried first.
func EntryXattrs(d *Dir, name string) Xattrs {
	if err := checkName(name); err != nil {
		return Xattrs{err: d.fail("xattr", name, err)}
	}
	return Xattrs{path: d.join(name), via: procPath(d.fd, name), fd: -1}
}

// List returns the attributes sorted by name, or none if the file system doesn't support them.
func (x Xattrs) List() (list []Xattr, err error) {
	err = x.reach(func(path string) error {
		names, err := whole(func(to []byte) (int, error) {
			if x.fd >= 0 {
				return unix.Flistxattr(x.fd, to)
			}
			return unix.Llistxattr(path, to)
		})
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return nil
		case err != nil:
			return &fs.PathError{Op: "listxattr", Path: path, Err: err}
		case len(names) == 0:
			return nil
		}
		for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
			if !ours(name) {
				continue
			}
			value, err := whole(func(to []byte) (int, error) {
				if x.fd >= 0 {
					return unix.Fgetxattr(x.fd, name, to)
				}
				return unix.Lgetxattr(path, name, to)
			})
			switch {
			case errors.Is(err, errNoXattr), errors.Is(err, errors.ErrUnsupported):
				// It was removed meanwhile, or is a name without a value.
			case err != nil:
				list = nil // all of them by the other path, or none
				return &fs.PathError{Op: "getxattr " + name, Path: path, Err: err}
			default:
				list = append(list, Xattr{Name: name, Value: value})
			}
		}
		slices.SortFunc(list, func(a, b Xattr) int { return strings.Compare(a.Name, b.Name) })
		return nil
	})
	return list, err
}

// Set sets an attribute. The error is errors.ErrUnsupported if the file system has no attributes.
func (x Xattrs) Set(name string, value []byte) error {
	return x.change("setxattr", func(path string) error {
		if x.fd >= 0 {
			return unix.Fsetxattr(x.fd, name, value, 0)
		}
		return unix.Lsetxattr(path, name, value, 0)
	})
}

// Remove removes an attribute if the file has it.
func (x Xattrs) Remove(name string) error {
	return x.change("removexattr", func(path string) error {
		if x.fd >= 0 {
			return unix.Fremovexattr(x.fd, name)
		}
		return unix.Lremovexattr(path, name)
	})
}

// reach calls do with the path of the file.
func (x Xattrs) reach(do func(path string) error) error {
	defer runtime.KeepAlive(x.file)
	if x.err != nil {
		return x.err
	}
	if x.via != "" {
		if err := do(x.via); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// It was removed, or /proc isn't mounted.
	}
	return do(x.path)
}

func (x Xattrs) change(op string, do func(path string) error) error {
	return x.reach(func(path string) error {
		if err := disk.Step(op, path); err != nil {
			return err
		}
		err := disk.IgnoreEINTR(func() error { return do(path) })
		if err == nil || op == "removexattr" && errors.Is(err, errNoXattr) {
			return nil
		}
		return &fs.PathError{Op: op, Path: path, Err: err}
	})
}

// whole reads a value that may be longer than expected, and may grow meanwhile.
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

// ours reports whether an extended attribute belongs to the file. The other ones belong to the
// system: labels of security modules, and views of other data.
func ours(name string) bool {
	switch {
	case strings.HasPrefix(name, "security."):
		return name == "security.capability"
	case strings.HasPrefix(name, "system."):
		return name == "system.posix_acl_access" || name == "system.posix_acl_default"
	}
	return !strings.HasPrefix(name, "trusted.SGI_ACL_") // XFS's form of the two above
}
