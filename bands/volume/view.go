package volume

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// View is a snapshot or a volume whose files can be read in the folder Dir until it is closed.
type View struct {
	Dir string
	// Progress is called by Changed, on the first of its two views, with the number of compared
	// entries, unless it is nil.
	Progress func(done int64)

	driver Driver
	at     string // the snapshot or volume itself
	close  func() error
}

// Close ends the view. No file in Dir may be open any more.
func (v View) Close() error {
	if v.close == nil {
		return nil
	}
	return v.close()
}

// Open opens the files of a snapshot for reading.
func Open(s *bands.Store, snap bands.Snapshot) (View, error) {
	d, ok := Named(snap.Volume, Place{Store: s.Dir()})
	if !ok {
		return View{}, fmt.Errorf("read %s: %w", snap.Version, ErrNotVolume)
	}
	at := s.VolumeDir(snap.Version)
	if _, err := os.Lstat(at); err != nil {
		return View{}, fmt.Errorf("read %s: its files are missing: %w", snap.Version, errors.Join(bands.ErrDamaged, err))
	}
	v, err := d.View(at)
	if err != nil {
		return View{}, fmt.Errorf("read %s: %w", snap.Version, err)
	}
	v.driver, v.at = d, at
	return v, nil
}

// Live returns the volume at root as a view.
func Live(d Driver, root string) View { return View{Dir: root, driver: d, at: root} }

// Hidden returns the names in a volume's root that aren't listed or compared.
func Hidden() []string { return []string{".git", ".entire"} }

// nameRoom is the size of the buffer for the names of a folder, in bytes.
const nameRoom = 32 << 10

// Each calls visit, by name, with the paths below the path below in dir that aren't directories, or
// with below itself if it is no directory. hidden are names in the root that are left out. A
// missing path is not an error.
func Each(ctx context.Context, dir, below string, hidden []string, visit func(path string, st *dirfd.Stat) error) error {
	at, err := dirfd.OpenRoot(dir)
	above, name := path.Split(below)
	for _, next := range splitPath(above) {
		if err != nil {
			break
		}
		outer := at
		at, err = outer.Open(next)
		_ = outer.Close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	w := walking{ctx: ctx, hidden: hidden, visit: visit}
	if below == "" {
		err = w.folder(at, "")
	} else {
		err = w.entry(at, name, below)
	}
	return errors.Join(err, at.Close())
}

// walking is the state of one Each.
type walking struct {
	ctx    context.Context //nolint:containedctx // lives as long as the call that made it
	hidden []string
	visit  func(path string, st *dirfd.Stat) error
}

func (w *walking) folder(d *dirfd.Dir, at string) error {
	var names []string
	err := d.Names(make([]byte, nameRoom), func(name []byte, _ byte) error {
		names = append(names, string(name))
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if at == "" && slices.Contains(w.hidden, name) {
			continue
		}
		if err := w.entry(d, name, path.Join(at, name)); err != nil {
			return err
		}
	}
	return w.ctx.Err()
}

func (w *walking) entry(d *dirfd.Dir, name, at string) error {
	var st dirfd.Stat
	if err := d.Stat(name, &st); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if !st.IsDir() {
		return w.visit(at, &st)
	}
	inner, err := d.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(w.folder(inner, at), inner.Close())
}

// ReadFile writes the contents of a file of a view to w, or the target of a symbolic link. It
// returns fs.ErrNotExist if there is none.
func (v View) ReadFile(name string, w io.Writer) (err error) {
	root, err := os.OpenRoot(v.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, target)
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return errors.Join(err, f.Close())
}

// Check verifies the snapshot as far as the driver can without reading its files.
func (v View) Check(ctx context.Context) error { return v.driver.Verify(ctx, v.at) }
