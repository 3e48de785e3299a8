package tracking

import (
	"context"
	"fmt"
	"slices"

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

// IsShadowNeeded reports whether a session other than those in leaving has work on the branch. The
// caller holds the lock. The list of sessions is read again, as one may have begun since this
// hook did.
func IsShadowNeeded(w *workspace.Workspace, branch string, leaving []string) bool {
	states, _ := session.Open(w.Repo.CommonDir).Pending()
	return slices.ContainsFunc(states, func(s *session.State) bool {
		return !slices.Contains(leaving, s.ID) && s.BaseCommit != "" && len(s.FilesTouched)+s.CheckpointCount > 0 &&
			checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID) == branch
	})
}

// writeStep writes the commit of a step within a task and counts the step in the
// state.
func writeStep(ctx context.Context, w *workspace.Workspace, s *session.State, c ShadowCommit, at checkpoint.Tip, edits []git.TreeEdit) (git.OID, bool, error) {
	step := c.TaskStep
	task := s.Recorder.FindTask(ByToolUse(step.ToolUse))
	tree, err := git.EditTree(ctx, w.Repo, at.Tree, edits)
	if err != nil || tree == at.Tree {
		return "", false, err
	}
	number := task.Steps + 1
	t := checkpoint.Task{
		Session: s.ID, ToolUse: step.ToolUse, Strategy: w.StrategyName(),
		Subject: checkpoint.TaskStepSubject(step.Todos, number, step.ToolUse),
	}
	t.Files, err = checkpoint.WriteTaskStep(w.Repo, s.ID, number, checkpoint.TaskStep{
		Tool: step.Tool, ToolUse: step.ToolUse, Time: w.Env.Now(), Data: step.Input,
	})
	if err != nil {
		return "", false, err
	}
	oid, made, err := checkpoint.WriteShadowTask(ctx, w.Repo, at, edits, t, c.By)
	if err == nil && made {
		task.Steps = number
	}
	return oid, made, err
}

// taskDirs returns the directories of the session's tasks as its shadow branch has them, with
// the ids of the lines that answer their calls, as far as they are known.
func taskDirs(ctx context.Context, w *workspace.Workspace, s *session.State) ([]git.TreeEntry, error) {
	if len(s.Recorder.Tasks) == 0 {
		return nil, nil
	}
	tree, err := w.ShadowTree(ctx, s)
	if err != nil {
		return nil, err
	}
	dir, found, err := w.Lookup(ctx, tree, checkpoint.ShadowTasksDir(s.ID))
	if err != nil || !found {
		return nil, err
	}
	entries, err := w.Repo.Tree(ctx, dir.OID)
	if err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e git.TreeEntry) bool {
		return e.Mode != git.ModeTree || s.Recorder.FindTask(ByToolUse(e.Name)) == nil
	})
	for i, e := range entries {
		task := s.Recorder.FindTask(ByToolUse(e.Name))
		if task.Phase != session.TaskDone || task.Answer == "" || task.Turn != s.TurnID {
			continue
		}
		end := checkpoint.TaskEnd{Session: s.ID, ToolUse: task.ToolUse, UUID: task.Answer, Agent: task.Agent}
		line, err := end.WriteEntry(w.Repo)
		if err != nil {
			return nil, err
		}
		_, found, err := git.LookupPath(ctx, w.Repo, e.OID, line.Name)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		edit := git.TreeEdit{Path: line.Name, Mode: line.Mode, OID: line.OID}
		if entries[i].OID, err = git.EditTree(ctx, w.Repo, e.OID, []git.TreeEdit{edit}); err != nil {
			return nil, err
		}
	}
	return entries, nil
}
