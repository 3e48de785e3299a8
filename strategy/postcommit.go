package strategy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// PostCommit carries out what was decided about the commit that HEAD is now.
// If that fails the decision stays, and the next hook of any kind tries again.
func (r *Recorder) PostCommit(ctx context.Context) error {
	doing, err := r.Repo.InProgress(ctx)
	if err != nil {
		return err
	}
	if doing.Rebase {
		return r.dropKept(ctx)
	}
	mine := r.mine(ctx)
	promised := len(mine) > 0
	if !promised && !r.anyFiles(ctx) {
		return nil
	}
	head, born, err := r.head(ctx)
	if err != nil || !born {
		return err
	}
	r.endDead(ctx)
	err = r.locked(ctx, func() error { return r.afterCommit(ctx, head) })
	if errors.Is(err, disk.ErrLocked) {
		r.detach(ctx, "")
	}
	if err != nil && !promised {
		return fmt.Errorf("what %s leaves pending is not noted: %w", head.OID.Short(), err)
	}
	if err != nil {
		return fmt.Errorf("checkpoint for %s is not written yet, the next hook tries again: %w", head.OID.Short(), err)
	}
	for _, d := range mine {
		if d.ID != "" && slices.Contains(checkpoint.IDs(head.Message), d.ID) {
			r.summarizeLater(ctx, d.ID)
		}
	}
	r.takePairs(ctx)
	r.topUp(ctx, r.Env.Getenv("CLAUDE_CODE_SESSION_ID"))
	return nil
}

// dropKept forgets what commits of a rebase had to keep.
func (r *Recorder) dropKept(ctx context.Context) error {
	for _, d := range r.mine(ctx) {
		if d.ID != "" {
			continue
		}
		if err := r.forget(d); err != nil {
			return err
		}
	}
	return nil
}

func (r *Recorder) anyFiles(ctx context.Context) bool {
	for _, s := range r.pendingHere(ctx) {
		if len(s.FilesTouched)+len(s.TurnCheckpointIDs) > 0 {
			return true
		}
	}
	return false
}

// afterCommit applies the decisions about head, and settles what it means for
// the other sessions.
func (r *Recorder) afterCommit(ctx context.Context, head git.Commit) error {
	ids := checkpoint.IDs(head.Message)
	linked := map[string]bool{}
	for _, d := range r.mine(ctx) {
		switch {
		case d.ID != "" && slices.Contains(ids, d.ID):
			if err := r.apply(ctx, d, head); err != nil {
				return err
			}
			for _, share := range d.Shares {
				linked[share.Session] = true
			}
			r.relink(ctx, d, head)
		case d.ID == "":
			r.relink(ctx, d, head)
			if err := r.forget(d); err != nil {
				return err
			}
		default:
			if err := r.late(ctx, d, head); err != nil {
				return err
			}
		}
	}
	return r.settle(ctx, head, func(id string) bool { return linked[id] })
}

// relink notes that the ids which a commit took over from the one it replaced
// now belong to it.
func (r *Recorder) relink(ctx context.Context, d Decision, head git.Commit) {
	links := r.links()
	changed := false
	for i, l := range links {
		if l.Commit != head.OID && slices.Contains(d.Replaced, l.ID) {
			links[i].Commit, changed = head.OID, true
		}
	}
	if !changed {
		return
	}
	if err := r.saveLinks(links); err != nil {
		r.Log.WarnContext(ctx, "links not saved", "error", err.Error())
	}
}

// PostRewrite follows commits that git has rewritten, old id to new.
func (r *Recorder) PostRewrite(ctx context.Context, moved map[git.OID]git.OID) error {
	if len(moved) == 0 || len(r.links()) == 0 {
		return nil
	}
	return r.locked(ctx, func() error { return r.moveLinks(moved) })
}
