package tracking

import (
	"context"
	"errors"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ErrNoBands means that there is no store to take a snapshot into.
var ErrNoBands = errors.New("no snapshots here")

// StoreDir returns the folder of the repository's snapshots.
func StoreDir(w *workspace.Workspace) string { return registry.RepositoryDir(w.Repo.CommonDir) }

// Lineage returns the name of this worktree in the store.
func Lineage(w *workspace.Workspace) string { return checkpoint.WorktreeHash(w.Repo.WorktreeID) }

// SnapshotStore opens the repository's store. It returns [ErrNoBands] if snapshots are
// disabled or there is no store.
func SnapshotStore(w *workspace.Workspace) (*bands.Store, error) {
	if !w.Options.Bands.Enabled {
		return nil, ErrNoBands
	}
	return OpenStore(w)
}

// OpenStore opens the repository's store, even if snapshots are disabled: it holds the files
// that rewinds have replaced. It returns [ErrNoBands] if there is none.
func OpenStore(w *workspace.Workspace) (*bands.Store, error) {
	store, err := bands.Open(StoreDir(w))
	if errors.Is(err, bands.ErrNoStore) {
		return nil, ErrNoBands
	}
	return store, err
}

// FindStore is OpenStore that returns false without an error if there is no store.
func FindStore(w *workspace.Workspace) (store *bands.Store, found bool, err error) {
	store, err = OpenStore(w)
	if errors.Is(err, ErrNoBands) {
		return nil, false, nil
	}
	return store, err == nil, err
}

// MakeStore opens the repository's store, and creates and registers it if there is
// none.
func MakeStore(ctx context.Context, w *workspace.Workspace) (*bands.Store, error) {
	store, err := bands.Open(StoreDir(w))
	if !errors.Is(err, bands.ErrNoStore) {
		return store, err
	}
	root := w.Repo.MainRoot()
	if root == "" {
		root = w.Repo.Root
	}
	if w.Env.Registry == nil {
		return bands.Create(StoreDir(w))
	}
	if _, err := w.Env.Registry.RepositoryStore(ctx, w.Repo.CommonDir, root); err != nil {
		return nil, err
	}
	return bands.Open(StoreDir(w))
}

// HoldWait is how long a command waits for the store. After SilentWait it reports that it waits.
const (
	HoldWait   = 10 * time.Second
	SilentWait = 500 * time.Millisecond
)

// HoldStore takes the store's lock. It returns an error if another process holds it for
// longer than wait.
func HoldStore(ctx context.Context, store *bands.Store, wait time.Duration) (*bands.Held, error) {
	soon, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return store.Hold(soon)
}
