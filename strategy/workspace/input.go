package workspace

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Input is the checked payload of an agent's hook.
type Input struct {
	SessionID string
	// Transcript is the path of the transcript, empty if none was named.
	Transcript string
	// Prompt is the text in the payload of a prompt hook.
	Prompt string
	// Summary is the agent's last message, in the payload of a stop.
	Summary string
	// Background reports whether tasks keep running after the stop.
	Background bool
	// Task is the payload of a subagent's hook.
	Task TaskEvent
	// Agent is the process of the agent, AgentType the agent's name in metadata.
	Agent     session.Process
	AgentType string
	// Turn is the id of the turn, if it began in another repository, TurnStart its beginning and
	// TurnLine its first line in the transcript, if they are known. Launched is the folder in which
	// the session started, if that is outside of this repository.
	Turn, Launched string
	TurnStart      time.Time
	TurnLine       int
	// Late reports whether the prompt's turn may have begun here already.
	Late bool
	// Hurried reports whether work that a child can do must be left to one.
	Hurried bool
	// Source is why a session starts, Reason why it ends, PromptID the id of the prompt that
	// the event belongs to; each is empty if absent.
	Source, Reason, PromptID string
	// GiveAtUse reports whether the agent gets lines about files with a prompt, as it takes no context
	// at a tool call.
	GiveAtUse bool
	// PromptContext reports whether the agent takes context with a prompt.
	PromptContext bool
	// StartContextLost reports whether the agent doesn't take the context that is returned at
	// this start of a session.
	StartContextLost bool
	// Compaction is the agent's own summary of the compacted context.
	Compaction string
}

// TaskEvent is the payload of a subagent's hook. Any field may be empty.
type TaskEvent struct {
	// ToolUse is the tool call that starts or started the subagent.
	ToolUse string
	// Agent is the subagent's id.
	Agent             string
	Type, Description string
	// Background reports whether the call has ended while the subagent keeps running.
	Background bool
	// Unnamed reports whether the agent's version doesn't name the subagent in the
	// payloads of its hooks.
	Unnamed bool
	// Step is the subagent's update of its plan.
	Step TaskStep
}

// TaskStep is one use of the tool for plans.
type TaskStep struct {
	Tool  string
	Todos []checkpoint.Todo
	Input json.RawMessage
}

// ErrTask means that a hook identified a task by an invalid id.
var ErrTask = errors.New("invalid task id")

// Check returns [ErrTask] for ids that can't be used in paths.
func (t TaskEvent) Check() error {
	for _, id := range []string{t.ToolUse, t.Agent} {
		if id != "" && !transcript.IsToolID(id) {
			return ErrTask
		}
	}
	return nil
}
