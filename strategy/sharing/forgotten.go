package sharing

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// RemoteHasForgottenError means that a remote still has data that was forgotten here.
type RemoteHasForgottenError struct{ Remote string }

func (e *RemoteHasForgottenError) Error() string {
	return "it still has content that was forgotten here"
}

// Hint returns advice for the user.
func (e *RemoteHasForgottenError) Hint() string {
	return "`entire forget --push " + e.Remote + "` removes it there"
}

// AbsentError means that a partial clone lacks contents that have to be searched for what was forgotten.
type AbsentError struct{ err error }

func (e *AbsentError) Error() string {
	return "this partial clone lacks checkpoints that must be searched for forgotten content"
}

// Unwrap returns the error of the search.
func (e *AbsentError) Unwrap() error { return e.err }

// Hint returns advice for the user.
func (e *AbsentError) Hint() string { return "`git fetch --refetch --no-filter` fetches them" }

// PushForgotten replaces the remote's metadata branch, which has forgotten data, by this
// repository's. Additions of other clones to the remote's are merged first. It fails if the
// remote's branch moves meanwhile.
func PushForgotten(ctx context.Context, w *workspace.Workspace, remote string) error {
	place, err := git.FindPushDestination(ctx, w.Repo, remote)
	if err == nil {
		err = CheckRemote(w, place)
	}
	if err != nil {
		return err
	}
	err = exchange(ctx, w, func(bool) error {
		t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
		if err != nil {
			return err
		}
		at, err := git.RemoteRef(ctx, w.Repo, remote, checkpoint.MetadataBranch)
		if err != nil {
			return err
		}
		if at != "" && !slices.Contains(t.Replaced, at) {
			got, err := takeIn(ctx, w, remote, "")
			if err == nil && got.masked && !got.listed {
				err = publish(ctx, w)
			}
			if err != nil {
				return err
			}
			at = got.tip
		}
		if err := replaceForgottenRefs(ctx, w, remote); err != nil {
			return err
		}
		tip, err := tipOf(ctx, w, checkpoint.MetadataBranch)
		if err != nil || tip == "" || tip == at {
			return err
		}
		if err := git.ReplaceRemoteRef(ctx, w.Repo, remote, git.RefChange{Name: checkpoint.MetadataBranch, New: tip, Old: at}); err != nil {
			return err
		}
		return recordSent(ctx, w, sentRecord(place), tip)
	})
	if err != nil {
		return fmt.Errorf("send to %s: %w", git.HideURL(remote), err)
	}
	return nil
}

// replaceForgottenRefs replaces those of a remote's refs of checkpoints that have forgotten data by this
// repository's, provided that they don't move meanwhile. Additions of other clones to them are merged
// first.
func replaceForgottenRefs(ctx context.Context, w *workspace.Workspace, remote string) error {
	theirs, err := git.RemoteRefs(ctx, w.Repo, remote, checkpoint.CheckpointRefs+"*")
	if err != nil || len(theirs) == 0 {
		return err
	}
	differs := map[checkpoint.ID]git.OID{}
	for _, ref := range theirs {
		id, ok := checkpoint.ParseRef(ref.Name)
		if !ok {
			continue
		}
		ours, _, err := git.RefCommit(ctx, w.Repo, ref.Name)
		if err != nil {
			return err
		}
		if ours.OID != ref.OID {
			differs[id] = ref.OID
		}
	}
	forgotten, err := fetchRefs(ctx, w, remote, slices.Sorted(maps.Keys(differs)))
	if err != nil {
		return err
	}
	if len(forgotten) > 0 {
		if err := publish(ctx, w); err != nil {
			return err
		}
	}
	for _, id := range forgotten {
		tip, found, err := git.RefCommit(ctx, w.Repo, id.Ref())
		if err != nil || !found {
			return err
		}
		if err := git.ReplaceRemoteRef(ctx, w.Repo, remote, git.RefChange{Name: id.Ref(), New: tip.OID, Old: differs[id]}); err != nil {
			return err
		}
		if _, err := checkpoint.Dequeue(ctx, w.Repo.CommonDir, nil, func(name string) bool { return name == id.Ref() }); err != nil {
			return err
		}
	}
	return nil
}

// publish adds the texts that were forgotten here to the list on the branch, as a remote had one of
// them: other clones that have fetched it remove it, too.
func publish(ctx context.Context, w *workspace.Workspace) error {
	by, err := w.Identity(ctx)
	if err != nil {
		return err
	}
	return w.WithLock(ctx, func() error {
		t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
		if err != nil {
			return err
		}
		t.PublishAll()
		if err := t.Save(w.Repo.CommonDir); err != nil {
			return err
		}
		tip, err := tipOf(ctx, w, checkpoint.MetadataBranch)
		if err != nil || tip == "" {
			return err
		}
		next, err := (&checkpoint.Rewriting{Repo: w.Repo, Forgotten: t.Forgotten, Clean: tip}).Forget(ctx, tip, by)
		if err != nil || next == tip {
			return err
		}
		return git.UpdateRefs(ctx, w.Repo, "entire: forget", []git.RefChange{{Name: checkpoint.MetadataBranch, New: next, Old: tip}})
	})
}
