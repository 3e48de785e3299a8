package sharing

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// sweep removes what was forgotten from the history of the metadata branch, if that has changed since
// it was last searched: a merge by another program may have brought an old history. What other clones
// have forgotten is also removed from the imported checkpoints, the other refs with a history of the
// branch, and from the reflogs, so that git's gc removes the objects; the index is rebuilt. If sweep fails or is killed, it remains due.
func sweep(ctx context.Context, w *workspace.Workspace) error {
	t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	if err != nil || t.IsEmpty() {
		return err
	}
	tip, err := tipOf(ctx, w, checkpoint.MetadataBranch)
	if err != nil || tip == t.Verified && !t.Unswept {
		return err
	}
	return w.WithLock(ctx, func() error { return sweepLocked(ctx, w) })
}

func sweepLocked(ctx context.Context, w *workspace.Workspace) error {
	t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	if err != nil {
		return err
	}
	rw, err := rewriting(ctx, w, t)
	if err != nil {
		return err
	}
	tip, err := tipOf(ctx, w, checkpoint.MetadataBranch)
	if err != nil {
		return err
	}
	if tip != "" {
		if rw.Clean, err = rw.Metadata(ctx, tip); err != nil {
			return err
		}
	}
	if rw.Clean == tip && !t.Unswept {
		t.Verified = tip
		return t.Save(w.Repo.CommonDir)
	}
	refs, err := git.ListRefs(ctx, w.Repo, checkpoint.MetadataBranch, checkpoint.RemoteBranches, checkpoint.PushedRefs, checkpoint.BackupRefs, checkpoint.CheckpointRefs, checkpoint.ImportedRef)
	if err != nil {
		return err
	}
	var changes []git.RefChange
	names := make([]string, 0, len(refs))
	for _, ref := range refs {
		names = append(names, ref.Name)
		id, inRef := checkpoint.ParseRef(ref.Name)
		var next git.OID
		if inRef {
			next, err = rw.Ref(ctx, ref.OID, id)
		} else {
			next, err = rw.Metadata(ctx, ref.OID)
		}
		switch {
		case err == nil && next == ref.OID:
			continue
		case ref.Name == checkpoint.MetadataBranch && err == nil:
			next = rw.At(tip)
		case (inRef || ref.Name == checkpoint.ImportedRef) && err == nil:
		case ref.Name == checkpoint.ImportedRef: // it is only here
			return err
		case err == nil || errors.Is(err, git.ErrMissing):
			next = "" // it would claim that the remote has the rewritten one, or it can't be searched
		default:
			return err
		}
		changes = append(changes, git.RefChange{Name: ref.Name, Old: ref.OID, New: next})
	}
	if err := w.Repo.SyncObjects(); err != nil {
		return err
	}
	if len(changes) > 0 {
		if err := git.UpdateRefs(ctx, w.Repo, "entire: forget", changes); err != nil {
			return err
		}
	}
	if err := git.ExpireReflogs(ctx, w.Repo, names...); err != nil {
		return err
	}
	if err := index.Remove(ctx, index.At(w.RecordsDir())); err != nil {
		return err
	}
	t.Unswept, t.Verified = false, rw.Clean
	return t.Save(w.Repo.CommonDir)
}
