package record

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// MadeCommit is the current commit of HEAD, with the decisions of its worktree.
type MadeCommit struct {
	head      git.Commit
	decisions []tracking.Decision
}

// Checkpoints returns the checkpoints that the commit's message names and that a decision of this
// worktree has.
func (m MadeCommit) Checkpoints() []checkpoint.ID {
	named := checkpoint.IDsOf(m.head)
	var ids []checkpoint.ID
	for _, d := range m.decisions {
		if d.ID != "" && slices.Contains(named, d.ID) {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// FindMade returns the current commit of HEAD. It returns false if nothing has to be done for it.
func FindMade(ctx context.Context, w *workspace.Workspace) (MadeCommit, bool, error) {
	doing, err := git.OperationInProgress(ctx, w.Repo)
	if err != nil {
		return MadeCommit{}, false, err
	}
	mine := tracking.WorktreeDecisions(ctx, w)
	if doing.Rebase { // a rebase in progress: remove the decisions about its commits
		for _, d := range mine {
			if d.ID != "" || (isLive(w, d) && !isCaller(w, d)) {
				continue
			}
			if err := tracking.RemoveDecision(d); err != nil {
				return MadeCommit{}, false, err
			}
		}
		return MadeCommit{}, false, nil
	}
	hasFiles := func(s *session.State) bool {
		return len(s.FilesTouched)+len(s.TurnCheckpointIDs)+len(s.Recorder.Withheld) > 0
	}
	if len(mine) == 0 && !slices.ContainsFunc(w.PendingSessions(ctx), hasFiles) {
		return MadeCommit{}, false, MarkHeadPassed(ctx, w)
	}
	head, born, err := w.Head(ctx)
	return MadeCommit{head: head, decisions: mine}, err == nil && born, err
}

// FinishMade carries out the decision about the commit. If it fails the decision remains, and the next
// hook of any kind retries.
func FinishMade(ctx context.Context, w *workspace.Workspace, m MadeCommit) error {
	err := afterCommit(ctx, w, m.head, m.decisions)
	if err == nil {
		err = MarkPassed(ctx, w, m.head)
	}
	if errors.Is(err, disk.ErrLocked) || ctx.Err() != nil {
		w.RequestCompletion(ctx, "")
	}
	switch {
	case err == nil:
		return nil
	case len(m.Checkpoints()) == 0:
		return fmt.Errorf("record the work pending after %s: %w", m.head.OID.Short(), err)
	case errors.Is(err, ErrUnfinished):
		return fmt.Errorf("checkpoint for %s is written, the next hook updates its sessions: %w", m.head.OID.Short(), err)
	default:
		return fmt.Errorf("checkpoint for %s is not written yet, the next hook tries again: %w", m.head.OID.Short(), err)
	}
}

// afterCommit applies the decisions about head, and updates the other sessions of the worktree. It
// ignores a decision whose git process is still running: it is about another commit that is being
// made in this worktree.
func afterCommit(ctx context.Context, w *workspace.Workspace, head git.Commit, mine []tracking.Decision) error {
	ids := checkpoint.IDsOf(head)
	linked := map[string]bool{}
	var kept, elsewhere []tracking.Decision
	for _, d := range mine {
		own := isCaller(w, d)
		switch {
		case !own && isLive(w, d):
		case d.ID == "":
			kept = append(kept, d)
		case slices.Contains(ids, d.ID):
			if err := ApplyDecision(ctx, w, d, tracking.LinkedCommit{Commit: head, Holder: head.OID}); err != nil {
				return err
			}
			for _, share := range d.Shares {
				linked[share.Session] = true
			}
		case own:
			// Another commit was made on top of it already, or its message lost the trailer.
			elsewhere = append(elsewhere, d)
		}
	}
	if len(kept) > 0 { // they request no checkpoint
		err := w.WithLock(ctx, func() error {
			for _, d := range kept {
				tracking.Relink(ctx, w, d, head.OID)
				if err := tracking.RemoveDecision(d); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if _, err := finishAll(ctx, w, elsewhere, tracking.RecentCommits); err != nil {
		return err
	}
	return settle(ctx, w, head, linked)
}

// PostRewrite updates links and notes after git has rewritten commits, given as a map of old ids to
// new ids. After a rebase it carries out the decisions that had to wait for its end.
func PostRewrite(ctx context.Context, w *workspace.Workspace, byRebase bool, moved map[git.OID]git.OID) error {
	if byRebase { // before the links follow: they lead to the commits that were replaced
		if err := FinishRebased(ctx, w); err != nil {
			return err
		}
	}
	if len(moved) == 0 {
		return nil
	}
	if err := FollowRewritten(ctx, w, moved); err != nil {
		return err
	}
	if head, born, err := w.Head(ctx); err == nil && born {
		if err := MarkExamined(w, head.OID); err != nil {
			return err
		}
	}
	if len(tracking.Links(w)) == 0 {
		return nil
	}
	return w.WithLock(ctx, func() error { return tracking.MoveLinks(w, moved) })
}
