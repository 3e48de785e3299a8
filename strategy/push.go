package strategy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// fetched is where a remote's checkpoints are kept while they are merged.
const fetched = "refs/entire/fetched/checkpoints/v1"

// PrePush sends the checkpoints along when git pushes to the remote that the
// settings name, by its name or URL. Without one it does nothing. A remote
// that has others too gets, and gives, the union.
func (r *Recorder) PrePush(ctx context.Context, remote, url string) error {
	named := r.Options.PushRemote
	if named == "" || !slices.Contains([]string{remote, url}, named) {
		return nil
	}
	if _, err := r.Repo.Commit(ctx, checkpoint.MetadataBranch); errors.Is(err, git.ErrMissing) {
		return nil
	}
	refspec := checkpoint.MetadataBranch + ":" + checkpoint.MetadataBranch
	if _, err := r.Repo.Push(ctx, named, refspec); err == nil {
		return nil
	}
	if err := r.Repo.Fetch(ctx, named, "+"+checkpoint.MetadataBranch+":"+fetched); err != nil {
		return fmt.Errorf("checkpoints not pushed to %s: %w", remote, err)
	}
	if err := r.locked(ctx, func() error { return r.mergeFetched(ctx) }); err != nil {
		return fmt.Errorf("checkpoints not pushed to %s: %w", remote, err)
	}
	if _, err := r.Repo.Push(ctx, named, refspec); err != nil {
		return fmt.Errorf("checkpoints not pushed to %s: %w", remote, err)
	}
	return nil
}

// mergeFetched makes the metadata branch the union of itself and what was
// fetched. A checkpoint has random id, so the only ones on both sides are the
// same, or one of them was completed: then ours stays.
func (r *Recorder) mergeFetched(ctx context.Context) error {
	ours, err := r.Repo.Commit(ctx, checkpoint.MetadataBranch)
	if err != nil {
		return err
	}
	theirs, err := r.Repo.Commit(ctx, fetched)
	if err != nil {
		return err
	}
	tree, err := r.union(ctx, theirs.Tree, ours.Tree, 2)
	if err != nil {
		return err
	}
	by, err := r.identity(ctx)
	if err != nil {
		return err
	}
	merged, err := r.Repo.WriteCommit(git.Commit{
		Tree: tree, Parents: []git.OID{ours.OID, theirs.OID}, Author: by, Committer: by, Message: "Merge remote session logs\n",
	})
	if err != nil {
		return err
	}
	return r.Repo.UpdateRefs(ctx, "entire: merge checkpoints", []git.RefUpdate{
		{Name: checkpoint.MetadataBranch, New: merged, Old: ours.OID},
		{Name: fetched, Old: theirs.OID},
	})
}

// union is the tree base with the entries of over laid upon it, down to depth
// levels of directories.
func (r *Recorder) union(ctx context.Context, base, over git.OID, depth int) (git.OID, error) {
	if base == over || depth == 0 {
		return over, nil
	}
	entries, err := r.Repo.Tree(ctx, base)
	if err != nil {
		return "", err
	}
	upper, err := r.Repo.Tree(ctx, over)
	if err != nil {
		return "", err
	}
	entries = slices.Clone(entries)
	for _, e := range upper {
		i := slices.IndexFunc(entries, func(b git.TreeEntry) bool { return b.Name == e.Name })
		switch {
		case i < 0:
			entries = append(entries, e)
		case entries[i].Mode == git.ModeTree && e.Mode == git.ModeTree:
			if entries[i].OID, err = r.union(ctx, entries[i].OID, e.OID, depth-1); err != nil {
				return "", err
			}
		default:
			entries[i] = e
		}
	}
	return r.Repo.WriteTree(entries)
}
