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
	mine := r.mine(ctx)
	if doing.Rebase {
		return r.dropKept(mine)
	}
	if len(mine) == 0 && !r.anyFiles(ctx) {
		return nil
	}
	head, born, err := r.head(ctx)
	if err != nil || !born {
		return err
	}
	r.endDead(ctx)
	ids := checkpoint.IDs(head.Message)
	promised := slices.ContainsFunc(mine, func(d Decision) bool { return d.ID != "" && slices.Contains(ids, d.ID) })
	err = r.afterCommit(ctx, head, mine)
	if errors.Is(err, disk.ErrLocked) || ctx.Err() != nil {
		r.detach(ctx, "")
	}
	if err != nil && !promised {
		return fmt.Errorf("what %s leaves pending is not noted: %w", head.OID.Short(), err)
	}
	if err != nil {
		return fmt.Errorf("checkpoint for %s is not written yet, the next hook tries again: %w", head.OID.Short(), err)
	}
	for _, d := range mine {
		if d.ID != "" && slices.Contains(ids, d.ID) {
			r.summarizeLater(ctx, d.ID)
		}
	}
	r.takePairs(ctx)
	r.topUp(ctx, r.Env.Getenv("CLAUDE_CODE_SESSION_ID"))
	return nil
}

// dropKept forgets what the commits of a rebase had to keep.
func (r *Recorder) dropKept(mine []Decision) error {
	for _, d := range mine {
		if d.ID != "" || (r.isLive(d) && !r.isCaller(d)) {
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

// afterCommit applies the decisions about head, and updates the other sessions
// of the worktree. A decision whose git process is still running belongs to
// another commit that is being made in this worktree, and is left alone.
func (r *Recorder) afterCommit(ctx context.Context, head git.Commit, mine []Decision) error {
	ids := checkpoint.IDs(head.Message)
	linked := map[string]bool{}
	var kept, elsewhere []Decision
	for _, d := range mine {
		own := r.isCaller(d)
		switch {
		case !own && r.isLive(d):
		case d.ID == "":
			kept = append(kept, d)
		case slices.Contains(ids, d.ID):
			if err := r.apply(ctx, d, linkedCommit{Commit: head, Holder: head.OID}); err != nil {
				return err
			}
			for _, share := range d.Shares {
				linked[share.Session] = true
			}
		case own:
			// Another commit has been made on top of it already, or its
			// message lost the trailer.
			elsewhere = append(elsewhere, d)
		}
	}
	if err := r.finishKept(ctx, kept, head.OID); err != nil {
		return err
	}
	if _, err := r.finishAll(ctx, elsewhere, recentCommits); err != nil {
		return err
	}
	return r.settle(ctx, head, func(id string) bool { return linked[id] })
}

// finishKept carries out decisions that ask for no checkpoint.
func (r *Recorder) finishKept(ctx context.Context, kept []Decision, commit git.OID) error {
	if len(kept) == 0 {
		return nil
	}
	return r.locked(ctx, func() error {
		for _, d := range kept {
			r.relink(ctx, d, commit)
			if err := r.forget(d); err != nil {
				return err
			}
		}
		return nil
	})
}

// relink notes that the ids which a commit took over from the one it replaced
// now belong to it.
func (r *Recorder) relink(ctx context.Context, d Decision, commit git.OID) {
	links := r.links()
	changed := false
	for i, l := range links {
		if l.Commit != commit && slices.Contains(d.Replaced, l.ID) {
			links[i].Commit, changed = commit, true
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
