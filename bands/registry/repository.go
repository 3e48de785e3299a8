package registry

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// RepositoryDir returns the folder of a repository's store in its common directory.
func RepositoryDir(commonDir string) string { return filepath.Join(commonDir, "entire", "store") }

// RepositoryStore returns the repository's own store, which it makes if there is none; root is the
// main worktree. It is named after root's folder, with -2, -3 and so on if that is taken. If the
// repository has been moved, the store records the new root.
func (r *Registry) RepositoryStore(ctx context.Context, commonDir, root string) (Entry, error) {
	root, err := r.checkRoot(root)
	if err != nil {
		return Entry{}, err
	}
	dir := RepositoryDir(disk.Physical(filepath.Clean(commonDir)))
	e, err := loadEntry(dir)
	switch {
	case err == nil && e.Root == root && e.Name != "":
		return e, nil
	case err != nil && !errors.Is(err, bands.ErrNoStore):
		return Entry{}, err
	}
	err = r.alone(ctx, func() error {
		e, err = maker{Registry: r}.repositoryAlone(ctx, dir, root)
		return err
	})
	return e, err
}

// repositoryAlone is RepositoryStore for callers with the registry's lock, or without a Home. Then
// no other store is known, and processes don't exclude each other.
func (m maker) repositoryAlone(ctx context.Context, dir, root string) (Entry, error) {
	base, err := m.base()
	if err != nil {
		return Entry{}, err
	}
	taken, err := m.taken(base, dir)
	if err != nil {
		return Entry{}, err
	}
	name := freeName(nameFrom(filepath.Base(root)), taken)
	now := m.Now().UTC().Truncate(time.Second)
	info := bands.Info{Name: name, Root: root, Created: now, Mounted: &now}
	if _, err = loadEntry(dir); errors.Is(err, bands.ErrNoStore) {
		if m.Home != "" && isMissing(dir) {
			return m.make(ctx, dir, info)
		}
		err = complete(ctx, dir, info) // its store.json is missing
		if m.Home == "" && errors.Is(err, fs.ErrExist) {
			err = nil // another process made it first
		}
	}
	if err != nil {
		return Entry{}, err
	}
	e, err := m.change(ctx, dir, func(info *bands.Info) {
		info.Root = root
		if info.Name == "" || taken[info.Name] {
			info.Name = name
		}
	})
	return e, errors.Join(err, m.list().add(dir))
}

// complete creates a store's store.json, also for a store that has lost it. The snapshots and
// versions are in other files.
func complete(ctx context.Context, dir string, info bands.Info) error {
	s, err := bands.Create(dir)
	if err != nil {
		return err
	}
	h, err := hold(ctx, s)
	if err != nil {
		return err
	}
	return errors.Join(h.SetInfo(info), h.Release())
}
