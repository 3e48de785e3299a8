package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// errMounted means that the source directory contains a mount point.
var errMounted = errors.New("it is a mount point")

// MirrorOptions are the options of Mirror.
type MirrorOptions struct {
	// Content compares the contents of files with equal size and attributes.
	Content bool
	// Skip are names in the top directories that are ignored on both sides.
	Skip []string
	// Dry changes nothing; MirrorReport.Changed lists the paths that would be changed.
	Dry bool
	// Progress is called with the number of files compared so far, unless it is nil.
	Progress func(done int64)
}

// MirrorReport is the result of Mirror.
type MirrorReport struct {
	// Files counts regular files, Bytes their lengths; a file with several links counts once.
	Files, Bytes int64
	// Changed are the paths that differed and are equal now, unsorted.
	Changed []string
	// LeftOut are the paths of sockets, FIFOs and devices.
	LeftOut []string
}

// Mirror makes the directory to equal to the directory from. Equal entries are left unchanged, so
// that an interrupted one can be continued, and one that changes nothing has verified a former
// one. Nothing is synced.
func Mirror(ctx context.Context, from, to string, o MirrorOptions) (_ MirrorReport, err error) {
	a, b, done, err := openBoth(from, to)
	if err != nil {
		return MirrorReport{}, err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := newMirror(o, b)
	m.canceled = ctx.Err
	err = m.folder(a, b, "")
	return m.report, err
}

// copyTree makes to, which must not exist, equal to the file or directory from, except for extended
// attributes that the file system doesn't support. For a socket, FIFO or device it creates
// nothing.
func copyTree(from, to string) (err error) {
	a, b, done, err := openBoth(filepath.Dir(from), filepath.Dir(to))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m := newMirror(MirrorOptions{}, b)
	m.loose = true
	return m.entry(pair{a, b, filepath.Base(from), filepath.Base(to), filepath.Base(to)})
}

// copyAttributes gives a directory the owner, mode, time and extended attributes of another, like
// copyTree.
func copyAttributes(from, to string) (err error) {
	a, b, done, err := openBoth(from, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	var st dirfd.Stat
	if err := a.Self(&st); err != nil {
		return err
	}
	list, err := dirfd.DirXattrs(a).List()
	if err != nil {
		return err
	}
	return (&mirroring{loose: true}).setAttributes(b, &st, list, dirfd.DirXattrs(b))
}

// openBoth opens two directories; done closes them.
func openBoth(from, to string) (a, b *dirfd.Dir, done func() error, err error) {
	if a, err = dirfd.OpenRoot(from); err != nil {
		return nil, nil, nil, err
	}
	if b, err = dirfd.OpenRoot(to); err != nil {
		return nil, nil, nil, errors.Join(err, a.Close())
	}
	return a, b, func() error { return errors.Join(b.Close(), a.Close()) }, nil
}

// mirroring is the state of Mirror.
type mirroring struct {
	canceled func() error
	o        MirrorOptions
	report   MirrorReport
	top      *dirfd.Dir // the directory written to
	// links are the first paths, below top, of files with several links, and linked the inodes of
	// these paths.
	links   map[inode]string
	linked  map[uint64]bool
	a, b    []byte // buffers for comparisons
	changes int    // calls of changed
	loose   bool   // unsupported extended attributes are skipped
}

type inode struct{ dev, ino uint64 }

func newMirror(o MirrorOptions, top *dirfd.Dir) *mirroring {
	return &mirroring{canceled: func() error { return nil }, o: o, top: top, links: map[inode]string{}, linked: map[uint64]bool{}}
}

// pair is an entry of the directory from, and the entry of to that becomes equal to it. path is
// the path below top.
type pair struct {
	from, to *dirfd.Dir
	name, as string
	path     string
}

const (
	nameBuffer  = 32 << 10
	compareRoom = 256 << 10
)

// folder makes the directory to equal to from.
func (m *mirroring) folder(from, to *dirfd.Dir, at string) error {
	var want, have dirfd.Stat
	if err := errors.Join(from.Self(&want), to.Self(&have)); err != nil {
		return err
	}
	list, err := dirfd.DirXattrs(from).List()
	if err != nil {
		return err
	}
	present, err := dirfd.DirXattrs(to).List()
	if err != nil {
		return err
	}
	before := m.changes
	if !sameAttributes(&want, &have) || !sameXattrs(list, present) {
		m.changed(at)
	}
	const writable = 0o700
	if have.Mode&writable != writable && !m.o.Dry {
		// The mode may not permit its owner to write to it.
		if err := to.Chmod(have.Mode | writable); err != nil {
			return err
		}
		before = -1
	}
	names, err := m.names(from, at)
	if err != nil {
		return err
	}
	old, err := m.names(to, at)
	if err != nil {
		return err
	}
	for _, name := range old {
		if _, found := slices.BinarySearch(names, name); !found {
			if err := m.remove(to, name, path.Join(at, name)); err != nil {
				return err
			}
		}
	}
	for _, name := range names {
		if err := m.canceled(); err != nil {
			return err
		}
		if err := m.entry(pair{from, to, name, name, path.Join(at, name)}); err != nil {
			return err
		}
	}
	if m.changes == before || m.o.Dry {
		return nil
	}
	return m.setAttributes(to, &want, list, dirfd.DirXattrs(to))
}

// names returns the sorted names in a directory.
func (m *mirroring) names(d *dirfd.Dir, at string) ([]string, error) {
	var names []string
	err := d.Names(make([]byte, nameBuffer), func(name []byte, _ byte) error {
		if at != "" || !slices.Contains(m.o.Skip, string(name)) {
			names = append(names, string(name))
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// entry makes one entry equal to another.
func (m *mirroring) entry(p pair) error {
	var want, have dirfd.Stat
	if err := p.from.Stat(p.name, &want); errors.Is(err, fs.ErrNotExist) {
		return m.remove(p.to, p.as, p.path) // removed meanwhile
	} else if err != nil {
		return err
	}
	if want.Mounted {
		return fmt.Errorf("%s: %w", filepath.Join(p.from.Path(), p.name), errMounted)
	}
	err := p.to.Stat(p.as, &have)
	isThere := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if isThere && want.Mode&dirfd.ModeType != have.Mode&dirfd.ModeType {
		if err := m.remove(p.to, p.as, p.path); err != nil {
			return err
		}
		isThere = false
	}
	var there *dirfd.Stat
	if isThere {
		there = &have
	}
	switch {
	case want.IsDir():
		if !isThere {
			m.changed(p.path)
			if m.o.Dry {
				return nil
			}
			if err := p.to.Mkdir(p.as, 0o700); err != nil {
				return err
			}
		}
		from, err := p.from.Open(p.name)
		if err != nil {
			return err
		}
		to, err := p.to.Open(p.as)
		if err != nil {
			return errors.Join(err, from.Close())
		}
		return errors.Join(m.folder(from, to, p.path), to.Close(), from.Close())
	case want.IsRegular():
		return m.file(p, &want, there)
	case want.IsSymlink():
		return m.symlink(p, &want, there)
	}
	m.report.LeftOut = append(m.report.LeftOut, p.path)
	return nil
}

// symlink makes a symbolic link equal to another.
func (m *mirroring) symlink(p pair, want, have *dirfd.Stat) error {
	target, err := p.from.Readlink(p.name)
	if err != nil {
		return err
	}
	list, err := dirfd.EntryXattrs(p.from, p.name).List()
	if err != nil {
		return err
	}
	if have != nil {
		present, err := dirfd.EntryXattrs(p.to, p.as).List()
		if err != nil {
			return err
		}
		now, err := p.to.Readlink(p.as)
		if err != nil {
			return err
		}
		if now == target && sameAttributes(want, have) && sameXattrs(list, present) {
			return nil
		}
	}
	if write, err := m.clear(p, have != nil); err != nil || !write {
		return err
	}
	if err := p.to.Symlink(target, p.as); err != nil {
		return err
	}
	return m.setAttributes(p.to.Entry(p.as), want, list, dirfd.EntryXattrs(p.to, p.as))
}

// remove removes an entry and everything below it.
func (m *mirroring) remove(d *dirfd.Dir, name, at string) (err error) {
	var st dirfd.Stat
	if err := d.Stat(name, &st); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	m.changed(at)
	if m.o.Dry {
		return nil
	}
	if !st.IsDir() {
		return d.Unlink(name)
	}
	inner, err := d.Open(name)
	if err != nil {
		return err
	}
	var names []string
	err = inner.Chmod(0o700)
	if err == nil {
		err = inner.Names(make([]byte, nameBuffer), func(name []byte, _ byte) error {
			names = append(names, string(name))
			return nil
		})
	}
	for _, name := range names {
		if err == nil {
			err = m.remove(inner, name, path.Join(at, name))
		}
	}
	if err = errors.Join(err, inner.Close()); err != nil {
		return err
	}
	return d.Rmdir(name)
}

// clear records that an entry differs, and removes the present one, which isn't a directory. It
// returns false in a dry run, in which nothing is written.
func (m *mirroring) clear(p pair, isThere bool) (write bool, err error) {
	m.changed(p.path)
	if m.o.Dry {
		return false, nil
	}
	if isThere {
		err = p.to.Unlink(p.as)
	}
	return true, err
}

// changed records a path that differs.
func (m *mirroring) changed(at string) {
	m.changes++
	if at == "" {
		at = "."
	}
	if n := len(m.report.Changed); n == 0 || m.report.Changed[n-1] != at { // it was removed first
		m.report.Changed = append(m.report.Changed, at)
	}
}
