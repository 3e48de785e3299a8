package volume

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// file makes a regular file equal to another; have is nil if it doesn't exist.
func (m *mirroring) file(p pair, want, have *dirfd.Stat) error {
	key := inode{want.Dev, want.Ino}
	if first, seen := m.links[key]; want.Nlink > 1 && seen {
		return m.link(p, first, have)
	}
	m.report.Files++
	m.report.Bytes += want.Size
	if m.o.Progress != nil {
		m.o.Progress(m.report.Files)
	}
	same := false
	if have != nil && !m.linked[have.Ino] && (want.Nlink > 1 || have.Nlink == 1) {
		var err error
		if same, err = m.same(p, want, have); err != nil {
			return err
		}
	}
	if !same {
		if write, err := m.clear(p, have != nil); err != nil || !write {
			return err
		}
		if err := m.copyFile(p, want); err != nil {
			return err
		}
	}
	if want.Nlink == 1 {
		return nil
	}
	var now dirfd.Stat
	if err := p.to.Stat(p.as, &now); err != nil {
		return err
	}
	m.links[key], m.linked[now.Ino] = p.path, true
	return nil
}

// link makes an entry a hard link to the file at the path first.
func (m *mirroring) link(p pair, first string, have *dirfd.Stat) (err error) {
	above, name := path.Split(first)
	dir, err := dirfd.OpenRoot(m.top.Path())
	for part := range strings.SplitSeq(strings.Trim(above, "/"), "/") {
		if err != nil || part == "" {
			break
		}
		outer := dir
		dir, err = outer.Open(part)
		err = errors.Join(err, outer.Close())
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	var target dirfd.Stat
	if err := dir.Stat(name, &target); err != nil {
		return err
	}
	if have != nil && have.Ino == target.Ino && have.Dev == target.Dev {
		return nil
	}
	if write, err := m.clear(p, have != nil); err != nil || !write {
		return err
	}
	return dir.Link(name, p.to, p.as)
}

// same reports whether a regular file is equal to another.
func (m *mirroring) same(p pair, want, have *dirfd.Stat) (same bool, err error) {
	if want.Size != have.Size || !sameAttributes(want, have) {
		return false, nil
	}
	a, err := p.from.OpenFile(p.name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	b, err := p.to.OpenFile(p.as)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	wanted, err := dirfd.FileXattrs(a).List()
	if err != nil {
		return false, err
	}
	present, err := dirfd.FileXattrs(b).List()
	if err != nil || !sameXattrs(wanted, present) {
		return false, err
	}
	if !m.o.Content {
		return true, nil
	}
	if m.a == nil {
		m.a, m.b = make([]byte, compareRoom), make([]byte, compareRoom)
	}
	return sameContent(a, b, m.a, m.b)
}

// sameContent reports whether the remaining contents of two files are equal.
func sameContent(a, b io.Reader, bufA, bufB []byte) (bool, error) {
	for {
		n, errA := io.ReadFull(a, bufA)
		k, errB := io.ReadFull(b, bufB)
		if !bytes.Equal(bufA[:n], bufB[:k]) {
			return false, nil
		}
		for _, err := range []error{errA, errB} {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return true, nil
			}
			if err != nil {
				return false, err
			}
		}
	}
}

// copyFile copies a regular file. The destination must not exist.
func (m *mirroring) copyFile(p pair, want *dirfd.Stat) (err error) {
	from, err := p.from.OpenFile(p.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := p.to.Create(p.as, 0o600)
	if err != nil {
		return err
	}
	err = disk.Fill(to, from)
	if err == nil {
		var list []dirfd.Xattr
		if list, err = dirfd.FileXattrs(from).List(); err == nil {
			err = m.setAttributes(p.to.Entry(p.as), want, list, dirfd.FileXattrs(to))
		}
	}
	if err = errors.Join(err, to.Close()); err != nil {
		err = fmt.Errorf("copy %s: %w", filepath.Join(p.from.Path(), p.name), err)
		if bad := p.to.Unlink(p.as); bad != nil && !errors.Is(bad, fs.ErrNotExist) {
			err = errors.Join(err, bad)
		}
	}
	return err
}
