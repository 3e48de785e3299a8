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
	if name, ok := checkpoint.Prefix(spec); ok {
		if id, err := checkpoint.ParseID(name); err == nil {
			return Carrier{IDs: []checkpoint.ID{id}}, nil
		}
	}
	return Carrier{}, &PointError{Spec: spec, Why: "is not a branch, commit or checkpoint"}
}

// storedByPrefix returns the stored checkpoints whose ids begin with a text that was typed.
func storedByPrefix(ctx context.Context, w *workspace.Workspace, typed string) ([]checkpoint.ID, error) {
	prefix, ok := checkpoint.Prefix(typed)
	if !ok || len(prefix) < LeastPointPrefix {
		return nil, nil
	}
	records, err := w.LocalRecords(ctx)
	if err != nil {
		return nil, err
	}
	return records.Find(ctx, prefix)
}

// FindStored reads the first of the checkpoints that this clone has, of its own or fetched. It returns
// checkpoint.ErrNotFound if it has none. Metadata missing in this clone is left out and marked.
func FindStored(ctx context.Context, w *workspace.Workspace, ids []checkpoint.ID) (checkpoint.Checkpoint, error) {
	records, err := w.Records(ctx)
	if err != nil {
		return checkpoint.Checkpoint{}, err
	}
	for _, source := range records.Sources {
		for _, id := range ids {
			c, err := source.Read(ctx, id)
			if !errors.Is(err, checkpoint.ErrNotFound) {
				return c, err
			}
		}
	}
	return checkpoint.Checkpoint{}, fmt.Errorf("checkpoint %s: %w", ids[0], checkpoint.ErrNotFound)
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
