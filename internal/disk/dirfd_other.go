//go:build !linux && !darwin

package disk

import (
	"errors"
	"os"
)

// OpenRoot opens a directory; not on this system.
func OpenRoot(path string) (*DirFD, error) {
	return nil, &os.PathError{Op: "open", Path: path, Err: errors.ErrUnsupported}
}

// StatFile fills to with the data of an open file; not on this system.
func StatFile(f *os.File, _ *Stat) error {
	return &os.PathError{Op: "stat", Path: f.Name(), Err: errors.ErrUnsupported}
}

func (d *DirFD) none(op, name string) error { return d.fail(op, name, errors.ErrUnsupported) }

// The methods do nothing on this system: no directory can be opened.

func (d *DirFD) Open(name string) (*DirFD, error)             { return nil, d.none("open", name) }
func (d *DirFD) Close() error                                 { return d.none("close", ".") }
func (d *DirFD) Self(*Stat) error                             { return d.none("stat", ".") }
func (d *DirFD) Stat(name string, _ *Stat) error              { return d.none("stat", name) }
func (d *DirFD) Names([]byte, func([]byte, byte) error) error { return d.none("readdir", ".") }
func (d *DirFD) OpenFile(name string) (*os.File, error)       { return nil, d.none("open", name) }

func (d *DirFD) Readlink(name string) (string, error) { return "", d.none("readlink", name) }

func (d *DirFD) Create(name string, _ uint32) (*os.File, error) { return nil, d.none("create", name) }
func (d *DirFD) Mkdir(name string, _ uint32) error              { return d.none("mkdir", name) }
func (d *DirFD) Rename(_, to string) error                      { return d.none("rename", to) }
func (d *DirFD) RenameTo(_ string, _ *DirFD, to string) error   { return d.none("rename", to) }
func (d *DirFD) Exchange(_, to string) error                    { return d.none("exchange", to) }
func (d *DirFD) Unlink(name string) error                       { return d.none("unlink", name) }
func (d *DirFD) Rmdir(name string) error                        { return d.none("rmdir", name) }
func (d *DirFD) Symlink(_, name string) error                   { return d.none("symlink", name) }
func (d *DirFD) Link(_ string, _ *DirFD, name string) error     { return d.none("link", name) }
func (d *DirFD) SetTimes(name string, _, _ int64) error         { return d.none("utimes", name) }
func (d *DirFD) SetOwnTimes(_, _ int64) error                   { return d.none("utimes", ".") }
func (d *DirFD) Chmod(name string, _ uint32) error              { return d.none("chmod", name) }
func (d *DirFD) Lchown(name string, _, _ int) error             { return d.none("chown", name) }
func (d *DirFD) ReadSmall(name string, _ []byte, _, _ *Stat) (int, error) {
	return 0, d.none("open", name)
}

// ReadSettled is ReadSmall: not on this system.
func (d *DirFD) ReadSettled(name string, _ []byte, _, _ *Stat) (int, []Xattr, error) {
	return 0, nil, d.fail("read", name, errors.ErrUnsupported)
}
