package record

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// errNothing ends a step that has nothing to save.
var errNothing = errors.New("nothing to do")

// TaskStart records that a subagent begins. It delays the agent: it starts no process and
// reads no file but the session's state.
func TaskStart(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	if err := in.Task.Check(); err != nil {
		return err
	}
	if in.Task.ToolUse == "" {
		return fmt.Errorf("%w: there is none", workspace.ErrTask)
	}
	return taskStep(ctx, w, in, func(s *session.State, _ *tracking.Pending) error {
		if s.Recorder.FindTask(tracking.ByToolUse(in.Task.ToolUse)) != nil {
			return errNothing
		}
		s.Recorder.AddTask(newTask(w, s, in.Task))
		return nil
	})
}

// TaskProgress makes a checkpoint within a subagent's task, if something changed since the
// last one. Events of the main agent are ignored.
func TaskProgress(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	if in.Task.Agent == "" && !in.Task.Unnamed {
		return nil
	}
	if err := in.Task.Check(); err != nil {
		return err
	}
	return taskStep(ctx, w, in, func(s *session.State, n *tracking.Pending) error {
		task := taskOf(w, s, in)
		if task == nil || !task.Runs() {
			return errNothing
		}
		return tracking.SaveTask(ctx, w, s, n, in, task.ToolUse)
	})
}

// TaskEnd makes the last checkpoint of a subagent's task, once, however many hooks report the
// end. If the subagent continues in the background, it records only that.
func TaskEnd(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	if in.Task.ToolUse == "" && in.Task.Agent == "" {
		return nil
	}
	if err := in.Task.Check(); err != nil {
		return err
	}
	return taskStep(ctx, w, in, func(s *session.State, n *tracking.Pending) error {
		task := taskOf(w, s, in)
		switch {
		case task == nil || task.Phase == session.TaskDone:
			return errNothing
		case in.Task.Background && task.Phase == session.TaskRunning:
			task.Phase = session.TaskBackground
			return nil
		case in.Task.Background:
			return errNothing
		}
		task.Phase = session.TaskStopped
		return tracking.SaveTask(ctx, w, s, n, in, task.ToolUse)
	})
}

// taskStep is a step of a task; the state isn't saved if there is nothing to do.
func taskStep(ctx context.Context, w *workspace.Workspace, in workspace.Input, do func(*session.State, *tracking.Pending) error) error {
	err := ApplyEvent(ctx, w, in, session.TaskStep, do)
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

// newTask returns the task of an event.
func newTask(w *workspace.Workspace, s *session.State, t workspace.TaskEvent) session.Task {
	return session.Task{
		ToolUse: t.ToolUse, Agent: t.Agent, Turn: s.TurnID, Started: w.Env.Now(),
		Type: w.FirstPrompt(t.Type), Description: w.FirstPrompt(t.Description),
	}
}

// taskOf returns the task of an event, nil if it is unknown. An unannounced task is recorded
// now.
func taskOf(w *workspace.Workspace, s *session.State, in workspace.Input) *session.Task {
	rec, t := &s.Recorder, in.Task
	if t.ToolUse == "" && t.Agent != "" {
		if known := rec.FindTask(func(o *session.Task) bool { return o.Agent == t.Agent }); known != nil {
			return known
		}
		if meta, ok := transcript.ReadSubagentMeta(s.TranscriptPath, t.Agent); ok {
			t.ToolUse, t.Type, t.Description = meta.ToolUse, meta.Type, meta.Description
		}
	}
	if t.ToolUse == "" {
		return onlyRunning(s, t.Agent)
	}
	task := rec.FindTask(tracking.ByToolUse(t.ToolUse))
	if task == nil {
		task = rec.AddTask(newTask(w, s, t))
	}
	if task.Agent == "" {
		task.Agent = t.Agent
	}
	return task
}

// onlyRunning returns the only running task of this turn without a known subagent, and assigns
// it to agent; nil if there isn't exactly one.
func onlyRunning(s *session.State, agent string) *session.Task {
	var only *session.Task
	for i := range s.Recorder.Tasks {
		t := &s.Recorder.Tasks[i]
		if !t.Runs() || t.Agent != "" || t.Turn != s.TurnID {
			continue
		}
		if only != nil {
			return nil
		}
		only = t
	}
	if only != nil {
		only.Agent = agent
	}
	return only
}

// endNotifiedTasks ends the task that a notification names. A person's prompt ends
// the tasks of an interrupted turn.
func endNotifiedTasks(s *session.State, prompt string) {
	if transcript.IsHuman(prompt) {
		for i := range s.Recorder.Tasks {
			if t := &s.Recorder.Tasks[i]; t.Phase == session.TaskRunning {
				t.Phase = session.TaskDone
			}
		}
		return
	}
	if !strings.HasPrefix(strings.TrimSpace(prompt), "<task-notification>") {
		return
	}
	toolUse, agent := tagged(prompt, "tool-use-id"), tagged(prompt, "task-id")
	task := s.Recorder.FindTask(func(t *session.Task) bool {
		return t.Runs() && (t.ToolUse == toolUse || (agent != "" && t.Agent == agent))
	})
	if task != nil {
		task.Phase = session.TaskStopped
	}
}

// tagged returns the text of the first element with a name.
func tagged(text, name string) string {
	_, rest, _ := strings.Cut(text, "<"+name+">")
	value, _, found := strings.Cut(rest, "</"+name+">")
	if !found {
		return ""
	}
	return strings.TrimSpace(value)
}
