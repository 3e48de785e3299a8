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
