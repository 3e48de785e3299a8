package restore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// ownerMay are the permissions that an owner needs to change the entries of a directory.
const ownerMay = 0o700

// open opens the node's directory, which must exist.
func (a *applier) open(n *dirNode) {
	if n.Err != nil {
		return
	}
	if n.Parent == nil {
		n.fd, n.Err = dirfd.OpenRoot(a.root)
	} else if n.Err = n.Parent.Err; n.Err == nil {
		n.fd, n.Err = n.Parent.fd.Open(n.Name)
	}
	if n.Err != nil && errors.Is(n.Err, fs.ErrPermission) && n.Parent != nil && n.Parent.fd != nil {
		n.Err = a.admit(n)
	}
	if n.Err != nil {
		return
	}
	var st dirfd.Stat
	if n.Err = n.fd.Self(&st); n.Err == nil {
		n.opened = st.Mode & dirfd.ModePerm
	}
	if n.Err == nil && n.opened&ownerMay != ownerMay && os.Geteuid() == int(st.UID) && st.UID != 0 {
		n.Err = n.fd.Chmod(n.opened | ownerMay)
	}
}

// admit opens a directory whose permissions exclude its owner.
func (a *applier) admit(n *dirNode) error {
	var st dirfd.Stat
	if err := n.Parent.fd.Stat(n.Name, &st); err != nil {
		return err
	}
	if err := n.Parent.fd.Entry(n.Name).Chmod(st.Mode&dirfd.ModePerm | ownerMay); err != nil {
		return err
	}
	var err error
	if n.fd, err = n.Parent.fd.Open(n.Name); err == nil && n.Change == nil {
		n.Change = &dirChange{Want: band.Attr{Mode: st.Mode & dirfd.ModePerm, UID: st.UID, GID: st.GID, Mtime: st.ModTime()}}
	}
	return err
}

// makeDir creates the node's directory and opens it.
func (a *applier) makeDir(n *dirNode) {
	if n.Err != nil {
		return
	}
	if n.Err = n.Parent.Err; n.Err != nil {
		return
	}
	mode := n.Make.Attr.Mode&0o777 | ownerMay
	if n.Parent.Make == nil && n.many() {
		n.Err = a.mkdirApart(n, mode)
	} else {
		n.Err = n.Parent.fd.Mkdir(n.Name, mode)
	}
	if n.Err != nil {
		return
	}
	n.Change = &dirChange{Want: n.Make.Attr}
	n.fd, n.Err = n.Parent.fd.Open(n.Name)
}

// settle sets the directory's attributes to those wanted.
func (a *applier) settle(n *dirNode) error {
	var st dirfd.Stat
	if err := n.fd.Self(&st); err != nil {
		return err
	}
	if n.Change == nil {
		if n.opened&ownerMay == ownerMay || st.Mode&dirfd.ModePerm == n.opened {
			return nil
		}
		return n.fd.Chmod(n.opened)
	}
	want := &n.Change.Want
	mode, chowned, err := a.chown(band.ShownPath(n.Path), &st, want, n.fd.Chown)
	if err != nil {
		return err
	}
	if chowned || st.Mode&dirfd.ModePerm != mode {
		if err := n.fd.Chmod(mode); err != nil {
			return err
		}
	}
	if len(want.Xattrs) > 0 || len(n.Change.Was.Xattrs) > 0 || n.Make != nil && !n.Parent.bare {
		if err := a.setXattrs(band.ShownPath(n.Path), want.Xattrs, dirfd.DirXattrs(n.fd)); err != nil {
			return err
		}
	}
	if st.ModTime().Equal(want.Mtime) {
		return nil
	}
	if err := n.fd.SetTime(want.Mtime); err != nil {
		return err
	}
	return a.noteTime(band.ShownPath(n.Path), want.Mtime, n.fd.Self)
}

func (n *dirNode) close() {
	if n.fd != nil {
		_ = n.fd.Close()
		n.fd = nil
	}
}

// EnterChange creates the directory if it has to, and its files.
func (a *applier) EnterChange(n *dirNode, s *bands.CopyBuffer) {
	if n.Make != nil {
		if a.makeDir(n); n.Err != nil {
			a.Fail(n.Path, n.Err)
		} else {
			a.advance(1)
		}
	} else {
		a.open(n)
	}
	if n.Err != nil {
		for _, step := range n.Steps {
			a.Fail(step.Path, n.Err)
		}
		if len(n.Steps) == 0 && n.Change != nil && n.Make == nil {
			a.Fail(band.ShownPath(n.Path), n.Err)
		}
		return
	}
	// New entries have no extended attributes if the directory has none: inherited ones, a
	// default ACL or a property of Btrfs, are attributes of the directory. Checking once saves a
	// search for each new file on Btrfs.
	if n.bare = n.Make != nil && n.Parent.bare; !n.bare {
		list, err := dirfd.DirXattrs(n.fd).List()
		n.bare = err == nil && len(list) == 0
	}
	here := place{Dir: n.fd, bare: n.bare, same: n.Same}
	if c := a.Clones; c != nil && len(n.Same) > 0 && !c.off.Load() {
		if from, err := bands.OpenBelow(c.root, n.Path); err == nil {
			defer func() { _ = from.Close() }()
			here.from = from
		}
	}
	var unit []*action
	for _, step := range n.Steps {
		if step.Unit != 0 {
			unit = append(unit, step)
			continue
		}
		if a.stopped() {
			break
		}
		if err := a.file(here, step, s); err != nil {
			a.Fail(step.Path, err)
		}
	}
	a.unitSteps(n, unit, s)
	a.advance(len(n.Steps))
}

// LeaveChange sets the directory's attributes after everything in it is done.
func (a *applier) LeaveChange(n *dirNode, _ *bands.CopyBuffer) {
	if n.fd == nil {
		return
	}
	if !a.stopped() && (!n.Late || n.Change == nil) {
		if err := a.settle(n); err != nil {
			a.Fail(band.ShownPath(n.Path), fmt.Errorf("attributes: %w", err))
		}
	}
	makes := slices.ContainsFunc(n.Kids, func(kid *dirNode) bool { return kid.Make != nil })
	if makes || n.Count > 0 || n.Make != nil || n.Change != nil { // it or an entry changed
		a.Flush.addDir(n.fd)
	}
	n.close()
}

// manyFiles is the least number of files for which mkdirApart is used.
const manyFiles = 2000

// many reports whether many files are created in the directory and below it.
func (n *dirNode) many() bool {
	count := 0
	var visit func(n *dirNode) bool
	visit = func(n *dirNode) bool {
		if count += n.Count; count >= manyFiles || n.Files >= manyFiles {
			return true
		}
		return slices.ContainsFunc(n.Kids, visit)
	}
	return visit(n)
}

// mkdirApart creates the node's directory where, on ext4, nothing was deleted recently. To create
// a file, ext4 first examines every inode of the directory's block group that was freed in the
// last minutes, and uses none of them: after the deletion of a node_modules, each file of its
// restore would take ten times as long as elsewhere. The group of a directory whose parent has
// the flag for top directories depends on the hash of its name.
func (a *applier) mkdirApart(n *dirNode, mode uint32) (err error) {
	parent, temp := n.Parent.fd, a.tempName()
	if dirfd.AppendOnly(parent) {
		return parent.Mkdir(n.Name, mode)
	}
	if err := parent.Mkdir(temp, ownerMay); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, parent.Rmdir(temp)) }()
	if !spreads(parent.Path() + "/" + temp) {
		return parent.Mkdir(n.Name, mode)
	}
	apart, err := parent.Open(temp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, apart.Close()) }()
	name := a.tempName()
	if err := apart.Mkdir(name, mode); err != nil {
		return err
	}
	// A directory that appears after this check is replaced only if it is empty.
	var st dirfd.Stat
	if parent.Stat(n.Name, &st) == nil {
		return errors.Join(dirfd.ErrChanged, apart.Rmdir(name))
	}
	if err := apart.Rename(name, parent, n.Name); err != nil {
		return errors.Join(err, apart.Rmdir(name))
	}
	return nil
}

// unitSteps executes the steps of a directory's databases.
func (a *applier) unitSteps(n *dirNode, steps []*action, buf *bands.CopyBuffer) {
	slices.SortStableFunc(steps, func(x, y *action) int { return cmp.Compare(x.Unit, y.Unit) })
	for len(steps) > 0 && !a.stopped() {
		end := 1
		for end < len(steps) && steps[end].Unit == steps[0].Unit {
			end++
		}
		if err := a.unit(place{Dir: n.fd, bare: n.bare}, band.BasePath(n.Units[steps[0].Unit-1].Main), steps[:end], buf); err != nil {
			for _, s := range steps[:end] {
				a.Fail(s.Path, err)
			}
		}
		steps = steps[end:]
	}
}

// unit restores a database: all files are first written beside it, so that they are inconsistent
// only while they are renamed. The main file is renamed before a journal or log that will be
// played back into it.
func (w *fileWriter) unit(dir place, main string, steps []*action, buf *bands.CopyBuffer) (err error) {
	temps := map[*action]string{}
	defer func() {
		for _, temp := range temps {
			err = errors.Join(err, unlinkIfThere(dir.Dir, temp))
		}
	}()
	if err := w.beside(dir, steps, temps, buf); err != nil {
		return err
	}
	if err := unlinkIfThere(dir.Dir, main+"-shm"); err != nil {
		return err
	}
	for _, s := range steps {
		if s.Entry == nil {
			if err := unlinkIfThere(dir.Dir, band.BasePath(s.Path)); err != nil {
				return err
			}
		}
	}
	for _, s := range steps { // sorted: the main file has the shortest name
		var err error
		if temp, ok := temps[s]; ok && s.Was != nil {
			err = w.replace(dir.Dir, temp, band.BasePath(s.Path), s)
			delete(temps, s)
		} else if ok {
			if err = dir.Rename(temp, dir.Dir, band.BasePath(s.Path)); err == nil {
				delete(temps, s)
			}
		} else if s.Entry != nil {
			err = w.changeAttributes(dir.Dir, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// beside checks that the files of a database are unchanged, and writes the new ones under the
// temporary names in temps.
func (w *fileWriter) beside(dir place, steps []*action, temps map[*action]string, buf *bands.CopyBuffer) error {
	for _, s := range steps {
		name := band.BasePath(s.Path)
		if s.Was != nil {
			if _, err := w.unchanged(dir.Dir, name, s.Was); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		} else if err := dir.Stat(name, new(dirfd.Stat)); err == nil {
			return dirfd.ErrChanged // a program created it
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if s.Entry == nil || s.Kind == StepAttributes {
			continue
		}
		temp, err := w.tempIn(dir.Dir)
		if err != nil {
			return err
		}
		temps[s] = temp
		if err := w.write(dir, temps[s], s.Path, s.Entry, buf); err != nil {
			return err
		}
	}
	return nil
}
