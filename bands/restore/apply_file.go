package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"syscall"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// fileWriter writes, replaces and removes files and symlinks of open directories.
type fileWriter struct {
	attributes

	Content  *bands.ContentReader
	was      *bands.ContentReader // of the rescue
	Captured int64                // the file system's time before the rescue was taken
	Flush    *flusher
	Clones   *cloneTree    // nil: all files are written from Content
	temp     atomic.Uint64 // numbers the temporary files
}

// place is a directory in which files are created.
type place struct {
	*dirfd.Dir

	// bare means that new files inherit no extended attributes from the directory.
	bare bool
	// from is the directory of the clone source, nil if nothing is cloned; same are its entries
	// with the same content as the files to write, by name.
	from *dirfd.Dir
	same map[string]*band.Entry
}

var errAppendOnly = errors.New("its folder is append-only")

// file executes the step of a file or symlink.
func (w *fileWriter) file(dir place, s *action, buf *bands.CopyBuffer) error {
	name := band.BasePath(s.Path)
	if s.Was == nil || s.Was.Kind == band.Dir {
		return w.write(dir, name, s.Path, s.Entry, buf) // nothing has that name
	}
	if s.Kind == StepAttributes {
		if _, err := w.unchanged(dir.Dir, name, s.Was); err != nil {
			return err
		}
		return w.changeAttributes(dir.Dir, s)
	}
	temp, err := w.tempIn(dir.Dir)
	if err != nil {
		return err
	}
	if err := w.write(dir, temp, s.Path, s.Entry, buf); err != nil {
		return err
	}
	return w.replace(dir.Dir, temp, name, s)
}

// write creates name, which must not exist, from e. name is the name of path, or a temporary one.
func (w *fileWriter) write(dir place, name, path string, e *band.Entry, buf *bands.CopyBuffer) error {
	if e.Kind == band.Symlink {
		return w.writeLink(dir.Dir, name, path, e)
	}
	f, err := dir.Create(name, e.Attr.Mode&0o777)
	if err != nil {
		return err
	}
	same := dir.same[name]
	if dir.from == nil || same == nil || !w.Clones.clone(f, dir.from, name, same) {
		err = w.Content.Fill(f, e, buf)
	}
	if err == nil {
		err = w.settleFile(dir, name, path, f, e)
	}
	if err == nil {
		err = w.setTime(dir.Dir, name, path, e.Attr.Mtime)
	}
	if err != nil {
		return errors.Join(err, f.Close(), dir.Unlink(name))
	}
	if err := w.Flush.add(f); err != nil {
		return errors.Join(err, dir.Unlink(name))
	}
	w.Verified.Add(1)
	w.wrote(e.Size)
	return nil
}

func (w *fileWriter) writeLink(dir *dirfd.Dir, name, path string, e *band.Entry) error {
	if err := dir.Symlink(e.Target, name); err != nil {
		return err
	}
	if err := w.attributesOf(dir, name, path, e); err != nil {
		return errors.Join(err, dir.Unlink(name))
	}
	if got, err := dir.Readlink(name); err != nil || got != e.Target {
		return errors.Join(bands.ErrNotWritten, err, dir.Unlink(name))
	}
	w.Verified.Add(1)
	return nil
}

// linkOrCopy makes name a hard link to the step's file, or a copy of it if the file system
// permits no more links.
func (w *fileWriter) linkOrCopy(from *dirfd.Dir, to place, name string, s *action, buf *bands.CopyBuffer) error {
	err := from.Link(band.BasePath(s.Link), to.Dir, name)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EMLINK) || errors.Is(err, fs.ErrPermission) {
		return w.write(to, name, s.Path, s.Entry, buf)
	}
	return err
}

// changeAttributes executes a step that changes only attributes.
func (w *fileWriter) changeAttributes(dir *dirfd.Dir, s *action) error {
	if err := w.attributesOf(dir, band.BasePath(s.Path), s.Path, s.Entry); err != nil {
		return err
	}
	w.Flush.addName(dir, band.BasePath(s.Path))
	return nil
}

// replace is replaceBy for a step that wrote the file temp. It keeps the flags set by chattr on
// the replaced file, which snapshots don't hold.
func (w *fileWriter) replace(dir *dirfd.Dir, temp, name string, s *action) error {
	if s.Was.Kind == band.File && s.Entry.Kind == band.File {
		err := copyFlags(dir, name, temp)
		if refused(err) {
			w.noteUnset(s.Path, err)
		} else if err != nil {
			return errors.Join(err, dir.Unlink(temp))
		}
	}
	return w.replaceBy(dir, temp, name, s.Was)
}

func copyFlags(dir *dirfd.Dir, from, to string) error {
	was, err := dir.OpenFile(from)
	if err != nil {
		return nil //nolint:nilerr // it went, or may not be read: replaceBy decides
	}
	is, err := dir.OpenFile(to)
	if err == nil {
		err = errors.Join(dirfd.CopyFlags(was, is), is.Close())
	}
	return errors.Join(err, was.Close())
}

// replaceBy renames temp to name if that is unchanged since its capture, or is missing.
func (w *fileWriter) replaceBy(dir *dirfd.Dir, temp, name string, was *band.Entry) error {
	st, err := w.unchanged(dir, name, was)
	switch {
	case err == nil:
		beforeReplace(dir, name)
		return dirfd.ReplaceUnchanged(dir, temp, name, &st)
	case errors.Is(err, fs.ErrNotExist):
		err = dir.Rename(temp, dir, name)
	}
	if err != nil {
		return errors.Join(err, dir.Unlink(temp))
	}
	return nil
}

// remove removes a file or symlink if it is unchanged since its capture.
func (w *fileWriter) remove(dir *dirfd.Dir, name string, was *band.Entry) error {
	st, err := w.unchanged(dir, name, was)
	if err != nil {
		return err
	}
	beforeReplace(dir, name)
	return dirfd.RemoveUnchanged(dir, w.tempName(), name, &st)
}

// unchanged returns an error unless name is as captured: only that may be replaced.
func (w *fileWriter) unchanged(dir *dirfd.Dir, name string, was *band.Entry) (st dirfd.Stat, err error) {
	if err := dir.Stat(name, &st); err != nil {
		return st, err
	}
	same := st.ModTime().Equal(was.Attr.Mtime)
	switch was.Kind {
	case band.File:
		same = same && st.IsRegular() && st.Size == was.Size
	case band.Symlink:
		same = same && st.IsSymlink()
	default:
		same = false
	}
	// A change can reset the mtime of a file to its former value, but not the ctime.
	if same && was.Kind == band.File && st.Ctime >= w.Captured {
		same = w.holds(dir, name, was)
	}
	if !same {
		return st, dirfd.ErrChanged
	}
	return st, nil
}

// holds reports whether the file has the content that the rescue has for it.
func (w *fileWriter) holds(dir *dirfd.Dir, name string, was *band.Entry) bool {
	f, err := dir.OpenFile(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return w.was.Same(f, was)
}

// tempName returns a name for a temporary file.
func (w *fileWriter) tempName() string {
	return fmt.Sprintf("%s%016x", bands.TempPrefix, w.temp.Add(1))
}

// tempIn returns a name for a temporary file in the directory that will replace another. It fails
// in append-only directories, where no file can be replaced or removed.
func (w *fileWriter) tempIn(dir *dirfd.Dir) (string, error) {
	if dirfd.AppendOnly(dir) {
		return "", errAppendOnly
	}
	return w.tempName(), nil
}

// beforeReplace is called between the check of the replaced file and its replacement; for tests.
var beforeReplace = func(_ *dirfd.Dir, _ string) {} //nolint:gochecknoglobals // tests of one moment set it
