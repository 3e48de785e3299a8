package rewind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/sharing"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// FindCarrier returns the checkpoint that a text names: by its id or at least 7 digits of it,
// or by its commit as git understands it. An id need not be stored here. The error is a
// *PointError if the text names nothing, and wraps ErrNoCheckpoint or ErrAmbiguous.
func FindCarrier(ctx context.Context, w *workspace.Workspace, spec string) (Carrier, error) {
	ids, err := storedByPrefix(ctx, w, strings.ToLower(spec))
	switch {
	case err != nil:
		return Carrier{}, err
	case len(ids) > 1:
		return Carrier{}, fmt.Errorf("%s %w", spec, ErrAmbiguousCheckpoint)
	case len(ids) == 1:
		return Carrier{IDs: ids}, nil
	}
	c, err := w.Repo.Commit(ctx, spec)
	if err == nil {
		ids := checkpoint.IDsOf(c)
		if len(ids) == 0 {
			return Carrier{}, fmt.Errorf("commit %s %w", c.OID.Short(), ErrNoCheckpoint)
		}
		slices.Reverse(ids)
		return Carrier{IDs: ids, Commit: c}, nil
	}
	if id, invalid := checkpoint.ParseID(strings.ToLower(spec)); invalid == nil {
		return Carrier{IDs: []checkpoint.ID{id}}, nil
	}
	return Carrier{}, &PointError{Spec: spec, Why: "is no branch, commit or checkpoint"}
}

// storedByPrefix returns the stored checkpoints whose ids begin with a text.
func storedByPrefix(ctx context.Context, w *workspace.Workspace, prefix string) ([]checkpoint.ID, error) {
	if len(prefix) < LeastPointPrefix {
		return nil, nil
	}
	if _, err := checkpoint.ParseID(prefix + "000000000000"[min(len(prefix), 12):]); err != nil {
		return nil, nil //nolint:nilerr // it is no beginning of an id
	}
	v1, err := checkpoint.Tree(ctx, w.Repo)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	shard, found, err := git.LookupPath(ctx, w.Repo, v1, prefix[:2])
	if err != nil || !found || shard.Mode != git.ModeTree {
		return nil, err
	}
	entries, err := w.Repo.Tree(ctx, shard.OID)
	if err != nil {
		return nil, err
	}
	var ids []checkpoint.ID
	for _, e := range entries {
		id, err := checkpoint.ParseID(prefix[:2] + e.Name)
		if err == nil && e.Mode == git.ModeTree && strings.HasPrefix(string(id), prefix) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// FindStored reads the first of the checkpoints that is stored on the local branch, or else on
// a fetched branch of a remote. It returns checkpoint.ErrNotFound if none is. Metadata missing
// in this clone is left out and marked.
func FindStored(ctx context.Context, w *workspace.Workspace, ids []checkpoint.ID) (checkpoint.Checkpoint, error) {
	v1, err := checkpoint.Tree(ctx, w.Repo)
	if err == nil {
		c, err := readFirst(ctx, w, v1, ids)
		if !errors.Is(err, checkpoint.ErrNotFound) {
			return c, err
		}
	} else if !errors.Is(err, checkpoint.ErrNotFound) {
		return checkpoint.Checkpoint{}, err
	}
	remotes, err := remotes(ctx, w)
	if err != nil {
		return checkpoint.Checkpoint{}, err
	}
	for _, remote := range remotes {
		tip, err := w.Repo.Commit(ctx, ResumeBranch{Name: strings.TrimPrefix(checkpoint.MetadataBranch, "refs/heads/"), Remote: remote}.ref())
		if errors.Is(err, git.ErrMissing) {
			continue
		}
		if err != nil {
			return checkpoint.Checkpoint{}, err
		}
		c, err := readFirst(ctx, w, tip.Tree, ids)
		if !errors.Is(err, checkpoint.ErrNotFound) {
			return c, err
		}
	}
	return checkpoint.Checkpoint{}, fmt.Errorf("checkpoint %s: %w", ids[0], checkpoint.ErrNotFound)
}

// readFirst reads the first of the checkpoints that the tree has.
func readFirst(ctx context.Context, w *workspace.Workspace, v1 git.OID, ids []checkpoint.ID) (checkpoint.Checkpoint, error) {
	for _, id := range ids {
		c, err := checkpoint.ReadAvailable(ctx, w.Repo, v1, id)
		if !errors.Is(err, checkpoint.ErrNotFound) {
			return c, err
		}
	}
	return checkpoint.Checkpoint{}, checkpoint.ErrNotFound
}

// CheckpointRemote returns the remote from which missing checkpoints are fetched: the remote
// that the user configured for them, else the branch's own, else origin, else the only one;
// empty if there is none.
func CheckpointRemote(ctx context.Context, w *workspace.Workspace, branch string) (string, error) {
	if named := w.Options.PushRemote; named != "" {
		place, err := git.FindPushDestination(ctx, w.Repo, named)
		if err == nil {
			err = sharing.CheckRemote(w, place)
		}
		return named, err
	}
	remotes, err := remotes(ctx, w)
	if err != nil || len(remotes) == 0 {
		return "", err
	}
	own, err := w.Repo.Config.Match(ctx, `^branch\..*\.remote$`)
	if err != nil {
		return "", err
	}
	if name := own["branch."+branch+".remote"]; slices.Contains(remotes, name) {
		return name, nil
	}
	if remotes[0] == "origin" || len(remotes) == 1 {
		return remotes[0], nil
	}
	return "", nil
}
