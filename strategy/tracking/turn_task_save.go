package tracking

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// agentTime limits the time to store a subagent's transcript.
const agentTime = 2 * time.Second

// SaveTask makes a checkpoint of a task with all changes of the turn so far; in a large
// worktree, where finding them takes too long, with those of files named by edit tools. The
// turn continues: the session's record of git's status stays, so that the stop detects the
// same changes as without the checkpoint.
func SaveTask(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, in workspace.Input, toolUse string) error {
	look := func(ctx context.Context, s *session.State, n *Pending, in workspace.Input) (observation, error) {
		return observe(ctx, w, s, n, in)
	}
	if IsLargeWorktree(w) {
		look = func(ctx context.Context, s *session.State, n *Pending, in workspace.Input) (observation, error) {
			return observeNamed(ctx, w, s, n, in)
		}
	}
	seen, err := look(ctx, s, n, in)
	if err != nil {
		return err
	}
	changes, err := newChanges(ctx, w, s, seen, nil)
	if err != nil {
		return err
	}
	touched, err := changes.take(ctx, s, seen)
	if err != nil {
		return err
	}
	markShared(ctx, w, s, touched, changes)
	task := s.Recorder.FindTask(ByToolUse(toolUse))
	unseen := !seen.complete() && task.Phase == session.TaskStopped // the snapshot has the changes of shell commands
	keep := len(touched) > 0 || unseen
	if !keep && task.Steps > 0 {
		// A commit of the session's files has removed the task's checkpoints.
		shadow, err := w.ShadowTree(ctx, s)
		if err != nil {
			return err
		}
		if _, keep, err = w.Lookup(ctx, shadow, checkpoint.TaskDir(s.ID, task.ToolUse)); err != nil {
			return err
		}
	}
	if seen.born && keep {
		var wait sync.WaitGroup
		var entries map[string]git.TreeEdit
		var failed error
		workspace.Guard(&wait, &failed, func() (err error) { entries, err = w.StoreContents(ctx, touched); return err })
		complete, err := storeTranscript(ctx, w, s, seen)
		wait.Wait()
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		n.Unstored = n.Unstored || !complete
		c := ShadowCommit{Head: seen.head, Touched: touched, Edits: workspace.EditsOf(entries, touched), By: seen.by}
		if task.Phase == session.TaskStopped {
			err = endTask(ctx, w, s, n, task, c)
		} else {
			err = stepTask(ctx, w, n, task, c, in.Task.Step)
		}
		if err != nil {
			return err
		}
	}
	if task.Phase == session.TaskStopped {
		if !keep && w.Options.Strategy != workspace.AutoCommit { // which keeps task checkpoints only
			storeAgent(ctx, w, s, task, RedactNow)
		}
		task.Phase = session.TaskDone
	}
	annotate(ctx, w, s, n, seen, changes)
	return nil
}

// endTask prepares the last checkpoint of a task.
func endTask(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, task *session.Task, c ShadowCommit) error {
	main, err := StoredSegments(ctx, w, s)
	if err != nil {
		return err
	}
	t := checkpoint.Task{
		Session: s.ID, ToolUse: task.ToolUse, Strategy: w.StrategyName(),
		Subject: checkpoint.TaskEndSubject(task.Type, task.Description, task.ToolUse),
	}
	end := checkpoint.TaskEnd{Session: s.ID, ToolUse: task.ToolUse, UUID: task.Answer, Agent: task.Agent}
	t.Files, err = checkpoint.WriteTaskEnd(w.Repo, end, storeAgent(ctx, w, s, task, math.MaxInt64), main)
	if err != nil {
		return err
	}
	c.TaskEnd = &t
	n.ShadowCommits = append(n.ShadowCommits, c)
	return nil
}

// stepTask prepares a checkpoint within a task. None is made if no file differs
// from the last one.
func stepTask(ctx context.Context, w *workspace.Workspace, n *Pending, task *session.Task, c ShadowCommit, step workspace.TaskStep) (err error) {
	for i := range step.Todos {
		if step.Todos[i].Content, err = w.RedactText(ctx, step.Todos[i].Content); err != nil {
			return err
		}
	}
	if step.Input != nil {
		if step.Input, err = w.Redact.LineContext(ctx, step.Input); err != nil {
			return err
		}
	}
	c.TaskStep = &TaskStep{TaskStep: step, ToolUse: task.ToolUse}
	n.ShadowCommits = append(n.ShadowCommits, c)
	return nil
}

// storeAgent stores a subagent's transcript of at most most bytes, and records it in the task.
// A failure is logged: a checkpoint without it is better than none.
func storeAgent(ctx context.Context, w *workspace.Workspace, s *session.State, task *session.Task, most int64) []git.OID {
	file, found := transcript.FindSubagent(s.TranscriptPath, task.Agent)
	if !found || file.Size > most {
		return nil
	}
	soon, cancel := context.WithTimeout(ctx, agentTime)
	defer cancel()
	chunks, err := checkpoint.StoreTaskTranscript(soon, w.Repo, w.Redact, file.Path, file.Size)
	if err != nil {
		w.Log.WarnContext(ctx, "transcript of a subagent not stored", "session_id", s.ID, "error", err.Error())
	}
	task.Stored = nil
	for _, oid := range chunks {
		task.Stored = append(task.Stored, string(oid))
	}
	return chunks
}
