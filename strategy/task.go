package strategy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// TaskEvent is what a hook tells of a subagent and its task. All of it may be
// missing.
type TaskEvent struct {
	// ToolUse is the tool call that starts or started the subagent.
	ToolUse string
	// Agent is the subagent's id.
	Agent             string
	Type, Description string
	// Background reports whether the call has ended and the subagent goes on.
	Background bool
	// Unnamed says that the agent is of a version that doesn't tell whose hook
	// it is.
	Unnamed bool
	// Step is what the subagent noted of its plan.
	Step TaskStep
}

// TaskStep is one use of the tool for plans.
type TaskStep struct {
	Tool  string
	Todos []checkpoint.Todo
	Input json.RawMessage
}

// ErrTask means that a hook named a task by what can't be an id.
var ErrTask = errors.New("unusable id of a task")

// errNothing ends a step that has nothing to save.
var errNothing = errors.New("nothing to do")

// check refuses ids that can't stand in paths.
func (t TaskEvent) check() error {
	for _, id := range []string{t.ToolUse, t.Agent} {
		if id != "" && !transcript.IsToolID(id) {
			return ErrTask
		}
	}
	return nil
}

// TaskStart notes that a subagent begins. The agent waits for it: it starts no
// process and looks at no file but the session's state.
func (r *Recorder) TaskStart(ctx context.Context, in Input) error {
	if err := in.Task.check(); err != nil {
		return err
	}
	if in.Task.ToolUse == "" {
		return fmt.Errorf("%w: there is none", ErrTask)
	}
	return r.taskStep(ctx, in, func(s *session.State, _ *notes) error {
		if s.Recorder.FindTask(byToolUse(in.Task.ToolUse)) != nil {
			return errNothing
		}
		s.Recorder.AddTask(r.newTask(s, in.Task))
		return nil
	})
}

// TaskProgress makes a checkpoint within a subagent's task, if something
// changed since the last one. What the main agent does is none of its business.
func (r *Recorder) TaskProgress(ctx context.Context, in Input) error {
	if in.Task.Agent == "" && !in.Task.Unnamed {
		return nil
	}
	if err := in.Task.check(); err != nil {
		return err
	}
	return r.taskStep(ctx, in, func(s *session.State, n *notes) error {
		task := r.taskOf(s, in)
		if task == nil || !task.Runs() {
			return errNothing
		}
		return r.saveTask(ctx, s, n, in, task.ToolUse)
	})
}

// TaskEnd makes the last checkpoint of a subagent's task, once however many
// hooks tell of the end. Of a subagent that goes on in the background it notes
// just that.
func (r *Recorder) TaskEnd(ctx context.Context, in Input) error {
	if in.Task.ToolUse == "" && in.Task.Agent == "" {
		return nil
	}
	if err := in.Task.check(); err != nil {
		return err
	}
	return r.taskStep(ctx, in, func(s *session.State, n *notes) error {
		task := r.taskOf(s, in)
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
		return r.saveTask(ctx, s, n, in, task.ToolUse)
	})
}

// taskStep is a step of a task; the state isn't saved where nothing is to do.
func (r *Recorder) taskStep(ctx context.Context, in Input, do func(*session.State, *notes) error) error {
	err := r.step(ctx, in, session.TaskStep, do)
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

func byToolUse(id string) func(*session.Task) bool {
	return func(t *session.Task) bool { return t.ToolUse == id }
}

// newTask is the task that an event tells of.
func (r *Recorder) newTask(s *session.State, t TaskEvent) session.Task {
	return session.Task{
		ToolUse: t.ToolUse, Agent: t.Agent, Turn: s.TurnID, Started: r.Env.Now(),
		Type: r.firstPrompt(t.Type), Description: r.firstPrompt(t.Description),
	}
}

// taskOf answers the task that an event is about, nil if there is none that
// can be told. One that nothing has announced is noted now.
func (r *Recorder) taskOf(s *session.State, in Input) *session.Task {
	rec, t := &s.Recorder, in.Task
	if t.ToolUse == "" && t.Agent != "" {
		if known := rec.FindTask(func(o *session.Task) bool { return o.Agent == t.Agent }); known != nil {
			return known
		}
		if meta, ok := transcript.ReadAgentMeta(s.TranscriptPath, t.Agent); ok {
			t.ToolUse, t.Type, t.Description = meta.ToolUse, meta.Type, meta.Description
		}
	}
	if t.ToolUse == "" {
		return onlyRunning(s, t.Agent)
	}
	task := rec.FindTask(byToolUse(t.ToolUse))
	if task == nil {
		task = rec.AddTask(r.newTask(s, t))
	}
	if task.Agent == "" {
		task.Agent = t.Agent
	}
	return task
}

// onlyRunning answers the one task of this turn that runs and whose subagent
// isn't known; it is that of agent then.
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

// notified notes which task a prompt says has ended. One of a person ends what
// an interrupted turn has left.
func notified(s *session.State, prompt string) {
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

// tagged is the text of the first element of that name.
func tagged(text, name string) string {
	_, rest, _ := strings.Cut(text, "<"+name+">")
	value, _, found := strings.Cut(rest, "</"+name+">")
	if !found {
		return ""
	}
	return strings.TrimSpace(value)
}

// stopTasks notes at a stop which tasks have ended: all that aren't in the
// background, and those too if nothing runs there any more.
func stopTasks(s *session.State, background bool) {
	for i := range s.Recorder.Tasks {
		switch t := &s.Recorder.Tasks[i]; {
		case t.Phase == session.TaskRunning:
			t.Phase = session.TaskDone // its call failed, or nobody told of the end
		case t.Phase == session.TaskBackground && !background:
			t.Phase = session.TaskStopped
		}
	}
}
