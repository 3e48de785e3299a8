// Package snapshots takes snapshots of the worktree. A stop takes its own; for commits,
// prompts and hooks without enough time it writes requests, which a child or the next stop
// serves. A checkpoint and the snapshot of its commit are a pair.
//
// It imports the packages workspace, rewindstate and journal of strategy.
package snapshots

import (
	"context"
	"errors"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/checkpoint"
)

// ErrNoBands means that there is no store to take a snapshot into.
var ErrNoBands = errors.New("no snapshots here")

// StoreDir returns the folder of the repository's snapshots.
func (sn *Snapshots) StoreDir() string { return registry.RepositoryDir(sn.Repo.CommonDir) }

// Lineage returns the name of this worktree in the store.
func (sn *Snapshots) Lineage() string { return checkpoint.WorktreeHash(sn.Repo.WorktreeID) }

// Store opens the repository's store. It returns [ErrNoBands] if snapshots are
// disabled or there is no store.
func (sn *Snapshots) Store() (*bands.Store, error) {
	if !sn.Options.Bands.Enabled {
		return nil, ErrNoBands
	}
	return sn.OpenStore()
}

// OpenStore opens the repository's store, even if snapshots are disabled: it holds the files
// that rewinds have replaced. It returns [ErrNoBands] if there is none.
func (sn *Snapshots) OpenStore() (*bands.Store, error) {
	store, err := bands.Open(sn.StoreDir())
	if errors.Is(err, bands.ErrNoStore) {
		return nil, ErrNoBands
	}
	return store, err
}

// MakeStore opens the repository's store, and creates and registers it if there is
// none.
func (sn *Snapshots) MakeStore(ctx context.Context) (*bands.Store, error) {
	store, err := bands.Open(sn.StoreDir())
	if !errors.Is(err, bands.ErrNoStore) {
		return store, err
	}
	root := sn.Repo.MainRoot()
	if root == "" {
		root = sn.Repo.Root
	}
	if sn.Env.Registry == nil {
		return bands.Create(sn.StoreDir())
	}
	if _, err := sn.Env.Registry.RepositoryStore(ctx, sn.Repo.CommonDir, root); err != nil {
		return nil, err
	}
	return bands.Open(sn.StoreDir())
}

// HoldWait is how long a command waits for the store. After SilentWait it reports that it waits.
const (
	HoldWait   = 10 * time.Second
	SilentWait = 500 * time.Millisecond
)

// Hold takes the store's lock. It returns an error if another process holds it for
// longer than wait.
func Hold(ctx context.Context, store *bands.Store, wait time.Duration) (*bands.Held, error) {
	soon, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return store.Hold(soon)
}
