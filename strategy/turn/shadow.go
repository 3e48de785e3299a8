package turn

import (
	"context"
	"fmt"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// shadow prepares the shadow checkpoint of a turn, on the branch that hangs on
// HEAD. If HEAD has moved since the last one, the session's pending files come
// along and the old branch goes, unless another session needs it.
func (r *Shadows) shadow(ctx context.Context, s *session.State, n *tracking.Pending, t shadowTurn, head git.Commit) error {
	stored, err := r.transcripts.StoredSegments(ctx, s)
	if err != nil {
		return err
	}
	turn := s.Recorder.Turn
	subject := ""
	if n := len(turn.Prompts); n > 0 {
		subject = turn.Prompts[n-1]
	}
	sh := checkpoint.Shadow{
		Session: s.ID, Strategy: r.StrategyName(), Subject: checkpoint.Subject(subject),
		Prompts: turn.Prompts, Summary: turn.Summary, Transcript: stored,
	}
	t.write = func(ctx context.Context, at checkpoint.Tip, edits []git.Edit) (git.OID, bool, error) {
		var err error
		if sh.Tasks, err = r.taskTurns.taskDirs(ctx, s); err != nil {
			return "", false, err
		}
		return checkpoint.WriteShadow(ctx, r.Repo, at, edits, sh, t.by)
	}
	n.Refs = append(n.Refs, func() error { return r.moveShadow(ctx, s, t, head) })
	return nil
}

// shadowTurn is a turn, or a task in it, on its way to the shadow branch.
type shadowTurn struct {
	touched []string
	edits   []git.Edit
	by      git.Signature
	// write makes the commit, false if there is nothing to commit.
	write func(context.Context, checkpoint.Tip, []git.Edit) (git.OID, bool, error)
}

// moveShadow commits the turn and moves the branch. The caller holds the lock.
func (r *Shadows) moveShadow(ctx context.Context, s *session.State, t shadowTurn, head git.Commit) error {
	edits := t.edits
	refs := workspace.NewRefPlan(r.Repo)
	at, moved, err := r.files.NextTip(ctx, refs, s, head)
	if err != nil {
		return err
	}
	if moved != "" {
		carried, err := r.pendingEdits(ctx, s, t.touched)
		if err != nil {
			return err
		}
		edits = append(carried, edits...)
	}
	oid, made, err := t.write(ctx, at, edits)
	if err != nil {
		return err
	}
	if !made {
		r.Log.InfoContext(ctx, "Skipped checkpoint (no changes since last checkpoint)", "session_id", s.ID)
		return nil
	}
	if err := refs.Set(ctx, checkpoint.ShadowBranch(head.OID, r.Repo.WorktreeID), oid); err != nil {
		return err
	}
	if moved != "" && !r.IsNeeded(moved, []string{s.ID}) {
		if err := refs.Set(ctx, moved, ""); err != nil {
			return err
		}
	}
	if err := r.Repo.UpdateRefs(ctx, "entire: shadow checkpoint", refs.Updates()); err != nil {
		return fmt.Errorf("move shadow branch: %w", err)
	}
	s.BaseCommit = string(head.OID)
	s.CheckpointCount++
	return nil
}

// pendingEdits answers the session's pending files as its shadow branch has
// them, less those that are written anew, and its tasks.
func (r *Shadows) pendingEdits(ctx context.Context, s *session.State, anew []string) ([]git.Edit, error) {
	tree, err := r.files.ShadowTree(ctx, s)
	if err != nil {
		return nil, err
	}
	var edits []git.Edit
	for _, p := range s.FilesTouched {
		if workspace.ContainsPath(anew, p) {
			continue
		}
		e, found, err := r.Lookup(ctx, tree, p)
		if err != nil {
			return nil, err
		}
		if found {
			edits = append(edits, git.Edit{Path: p, Mode: e.Mode, OID: e.OID})
		}
	}
	tasks, err := r.taskTurns.taskDirs(ctx, s)
	for _, e := range tasks {
		edits = append(edits, git.Edit{Path: checkpoint.TaskDir(s.ID, e.Name), Mode: e.Mode, OID: e.OID})
	}
	return edits, err
}
