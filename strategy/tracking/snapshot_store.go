package tracking

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ErrNoBands means that there is no store to take a snapshot into.
var ErrNoBands = errors.New("snapshots are off")

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

// prune removes the snapshots that the store has no room for, and the refs that kept shadow
// commits for them.
func prune(ctx context.Context, w *workspace.Workspace, held *bands.Held, how func(context.Context, *bands.Held, retention.Policy) (retention.Pruned, error)) error {
	policy := retention.Policy{Now: w.Env.Now(), Cap: bands.CapAt(held.Dir(), w.Options.Bands.Cap)}
	if w.Env.Registry != nil {
		config, err := w.Env.Registry.Config()
		if err != nil {
			w.Log.WarnContext(ctx, "settings of the store", "error", err.Error())
		}
		if config.NoPrune {
			return nil
		}
		policy.Keep = config.Keep
	}
	pruned, err := how(ctx, held, policy)
	if err != nil || len(pruned.Versions) == 0 {
		return err
	}
	w.Log.InfoContext(ctx, "snapshots thinned", "removed", len(pruned.Versions), "freed", pruned.Freed)
	if known := w.Env.Registry; known != nil {
		if err := known.Rows().Forget(ctx, held.Store, pruned.Versions...); err != nil {
			w.Log.WarnContext(ctx, "catalog not up to date", "error", err.Error())
		}
	}
	refs, err := git.ListRefs(ctx, w.Repo, checkpoint.HeldRefs)
	if err != nil {
		return err
	}
	var gone []git.RefChange
	for _, ref := range refs {
		_, name, _ := strings.Cut(strings.TrimPrefix(ref.Name, checkpoint.HeldRefs), "-")
		v, err := bands.ParseVersion(name)
		if err != nil || name[0] != 'v' {
			continue
		}
		if _, err := held.Snapshot(v); errors.Is(err, bands.ErrNoSnapshot) {
			gone = append(gone, git.RefChange{Name: ref.Name, Old: ref.OID})
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return git.UpdateRefs(ctx, w.Repo, "entire: rewind", gone)
}
