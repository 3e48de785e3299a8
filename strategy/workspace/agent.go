package workspace

import (
	"github.com/seed-3aff656d/entire/session"
)

// Input is what an agent's hook tells, checked by the hook.
type Input struct {
	SessionID string
	// Transcript is the path of the transcript, empty if none was named.
	Transcript string
	// Prompt is what a prompt hook was given.
	Prompt string
	// Summary is the agent's last message, told at a stop.
	Summary string
	// Background reports whether tasks go on running after the stop.
	Background bool
	// Task is what a subagent's hook tells.
	Task TaskEvent
	// Agent is the process of the agent.
	Agent session.Process
	// Hurried says that what a child can do is left to one.
	Hurried bool
	// Source is why a session starts, Reason why it ends, PromptID what names the
	// prompt that an event belongs to; each empty if not told.
	Source, Reason, PromptID string
	// Compaction is the agent's own summary of what it compacted.
	Compaction string
}

func HasRecord(s *session.State) bool {
	return len(s.FilesTouched)+len(s.TurnCheckpointIDs)+s.CheckpointCount > 0 || s.LastCheckpointID != ""
}
