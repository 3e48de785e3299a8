package tracking

import (
	"context"
	"fmt"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// CommitShadow makes a pending commit, moves the branch, and records both in the state. If HEAD has
// moved since the last one, the session's pending files are carried along and the old branch
// is removed, unless another session needs it. The caller holds the lock, and must sync the
// directories that Commit returns before the state is saved: they have the branch's new value.
func CommitShadow(ctx context.Context, w *workspace.Workspace, s *session.State, c ShadowCommit) (dirs []string, err error) {
	edits := c.Edits
	refs := workspace.NewRefTransaction(w.Repo)
	at, moved, err := w.NextTip(ctx, refs, s, c.Head)
	if err != nil {
		return nil, err
	}
	if moved != "" {
		carried, err := pendingEdits(ctx, w, s, c.Touched)
		if err != nil {
			return nil, err
		}
		edits = append(carried, edits...)
	}
	var oid git.OID
	var made bool
	err = w.Repo.WriteTogether(git.SmallBatch, func() (err error) {
		switch {
		case c.TaskEnd != nil:
			oid, made, err = checkpoint.WriteShadowTask(ctx, w.Repo, at, edits, *c.TaskEnd, c.By)
		case c.TaskStep != nil:
			oid, made, err = writeStep(ctx, w, s, c, at, edits)
		default:
			turn := *c.Turn
			if turn.Tasks, err = taskDirs(ctx, w, s); err != nil {
				return err
			}
			oid, made, err = checkpoint.WriteShadow(ctx, w.Repo, at, edits, turn, c.By)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if !made {
		w.Log.InfoContext(ctx, "Skipped checkpoint (no changes since last checkpoint)", "session_id", s.ID)
		return nil, nil
	}
	if err := refs.Set(ctx, checkpoint.ShadowBranch(c.Head.OID, w.Repo.WorktreeID), oid); err != nil {
		return nil, err
	}
	if moved != "" && !IsShadowNeeded(w, moved, []string{s.ID}) {
		if err := refs.Set(ctx, moved, ""); err != nil {
			return nil, err
		}
	}
	if dirs, err = git.UpdateRefsUnsynced(ctx, w.Repo, "entire: shadow checkpoint", refs.Updates()); err != nil {
		return nil, fmt.Errorf("move shadow branch: %w", err)
	}
	s.BaseCommit = string(c.Head.OID)
	s.CheckpointCount++
	return dirs, nil
}

// pendingEdits returns the session's pending files as its shadow branch has them, without
// those in anew, and its tasks.
func pendingEdits(ctx context.Context, w *workspace.Workspace, s *session.State, anew []string) ([]git.TreeEdit, error) {
	tree, err := w.ShadowTree(ctx, s)
	if err != nil {
		return nil, err
	}
	var edits []git.TreeEdit
	for _, p := range s.FilesTouched {
		if workspace.ContainsPath(anew, p) {
			continue
		}
		e, found, err := w.Lookup(ctx, tree, p)
		if err != nil {
			return nil, err
		}
		if found {
			edits = append(edits, git.TreeEdit{Path: p, Mode: e.Mode, OID: e.OID})
		}
	}
	dirs, err := taskDirs(ctx, w, s)
	for _, e := range dirs {
		edits = append(edits, git.TreeEdit{Path: checkpoint.TaskDir(s.ID, e.Name), Mode: e.Mode, OID: e.OID})
	}
	return edits, err
}
