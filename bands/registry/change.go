package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// OpenStore marks the store active.
func (r *Registry) OpenStore(ctx context.Context, e Entry) (Entry, error) {
	now := r.Now().UTC().Truncate(time.Second)
	return r.change(ctx, e.Dir, func(info *bands.Info) {
		if info.Mounted == nil {
			info.Mounted = &now
		}
	})
}

// CloseStore marks the store inactive: no snapshots are taken.
func (r *Registry) CloseStore(ctx context.Context, e Entry) (Entry, error) {
	return r.change(ctx, e.Dir, func(info *bands.Info) { info.Mounted = nil })
}

// hold acquires the lock of a store.
func hold(ctx context.Context, s *bands.Store) (*bands.Held, error) {
	waiting, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	return s.Hold(waiting)
}

// change edits a store's own record and its row in the catalog.
func (r *Registry) change(ctx context.Context, dir string, edit func(*bands.Info)) (Entry, error) {
	s, err := bands.Open(dir)
	if err != nil {
		return Entry{}, err
	}
	h, err := hold(ctx, s)
	if err != nil {
		return Entry{}, err
	}
	info, err := h.Info()
	if err == nil {
		edit(&info)
		err = h.SetInfo(info)
	}
	if err := errors.Join(err, h.Release()); err != nil {
		return Entry{}, err
	}
	e, err := loadEntry(dir)
	if err != nil {
		return Entry{}, err
	}
	r.Rows().note(ctx, e)
	return e, nil
}

// Unmanage is DeleteStore for the store whose tree is the directory dir. It returns ErrNoContext if
// there is none.
func (r *Registry) Unmanage(ctx context.Context, dir string) (Entry, error) {
	root, err := r.checkRoot(dir)
	if err != nil {
		return Entry{}, err
	}
	e, ok := r.named(ctx, root)
	if !ok || e.Root != root { // an interrupted deletion has removed the .agentfs
		if e, ok, err = (maker{Registry: r}).find(func(base string, e Entry) bool { return e.Root == root && isNamed(base, e) }); err != nil {
			return Entry{}, err
		}
	}
	if !ok {
		return Entry{}, fmt.Errorf("%w: %s is not the tree of a store", ErrNoContext, root)
	}
	return e, r.DeleteStore(ctx, e)
}

// EndDelete completes an interrupted DeleteStore that has removed the folder of the store called
// name, or in the folder name. It returns false if there is none.
func (r *Registry) EndDelete(ctx context.Context, name string) (done bool, err error) {
	base, err := r.base()
	if err != nil {
		return false, err
	}
	err = r.alone(ctx, func() error {
		listed, err := r.list().read()
		if err != nil {
			return err
		}
		for _, dir := range listed {
			pooled := filepath.Dir(dir) == volume.StoreDir(base, volume.PoolDriver, "")
			named := dir == name || filepath.Base(dir) == name && (pooled || filepath.Dir(dir) == base)
			if !named || !isMissing(dir) || pooled && volume.PoolClosed(base) {
				continue
			}
			done = true
			sweepMade(filepath.Dir(dir))
			r.Rows().drop(ctx, bands.StoreID(dir))
			if err := r.list().remove(dir); err != nil {
				return err
			}
			if pooled {
				return volume.ClosePool(base)
			}
		}
		return nil
	})
	return done, err
}

// DeleteStore removes the store: its folder with all snapshots, its rows, and the .agentfs in its
// tree if it names the store. The tree is kept. A second call, also after a crash, removes the
// rest.
func (r *Registry) DeleteStore(ctx context.Context, e Entry) error {
	return r.alone(ctx, func() error {
		if named, ok := r.named(ctx, e.Root); e.Root != "" && ok && named.ID == e.ID {
			path := filepath.Join(e.Root, ContextFile)
			if err := disk.Step("unlink", path); err != nil {
				return err
			}
			if err := os.Remove(path); err != nil {
				return err
			}
		}
		if d, ok := volume.Named(e.Driver, volume.Place{Store: e.Dir}); ok {
			if err := d.Close(e.Root, true); err != nil {
				return err
			}
		}
		if err := removeStore(ctx, e.Dir); err != nil {
			return fmt.Errorf("delete store %s: %w", e.Name, err)
		}
		r.Rows().drop(ctx, e.ID)
		err := r.list().remove(e.Dir)
		if volume.UsesPool(e.Driver) {
			err = errors.Join(err, volume.ClosePool(filepath.Dir(filepath.Dir(e.Dir))))
		}
		return err
	})
}

// PoolClosed reports whether there are stores of the driver pool whose file system isn't mounted.
func PoolClosed(r *Registry) bool {
	base, err := r.base()
	return err == nil && base != "" && volume.PoolClosed(base)
}

// OpenPool mounts the file system with the stores of the driver pool, if there is one. After a
// restart of the computer it isn't mounted, and none of these stores is found.
func OpenPool(ctx context.Context, r *Registry) error {
	base, err := r.base()
	if err != nil || base == "" {
		return err
	}
	return r.alone(ctx, func() error { return volume.OpenPool(base) })
}

// removeStore renames the folder first, so that no incomplete store is ever found, and removes it.
// It waits until no process writes to the store.
func removeStore(ctx context.Context, dir string) error {
	s, err := bands.Open(dir)
	switch {
	case errors.Is(err, bands.ErrNoStore) && isMissing(dir):
		return nil
	case errors.Is(err, bands.ErrNoStore):
		return err // the folder has no store now
	}
	if err == nil {
		h, err := hold(ctx, s)
		if err != nil {
			return err
		}
		defer func() { _ = h.Release() }()
	}
	sweepMade(filepath.Dir(dir))
	if err := disk.Step("mkdir", dir); err != nil {
		return err
	}
	gone, err := os.MkdirTemp(filepath.Dir(dir), oldStorePrefix+"*")
	if err != nil {
		return err
	}
	if err := disk.Step("rename", dir); err != nil {
		return errors.Join(err, os.Remove(gone))
	}
	if err := os.Rename(dir, filepath.Join(gone, "store")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.Remove(gone))
	}
	return removeFolder(gone)
}
