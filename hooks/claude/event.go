// Package claude connects the program to Claude Code, and to the agents that took over the
// form of its hooks: it installs hooks in their settings, decodes their input and encodes
// their output.
package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Errors of an event.
var (
	// ErrVerb means that no hook has this name.
	ErrVerb = errors.New("unknown hook")
	// ErrPayload means that the agent's input can't be used.
	ErrPayload = errors.New("unusable payload")
)

// maxPayload bounds what is read of standard input. Prompts with whole files
// in them are far below it.
const maxPayload = 16 << 20

// Payload is the input that Claude Code gives a hook. All but the first three may be
// absent.
type Payload struct {
	SessionID  string            `json:"session_id"`
	Transcript string            `json:"transcript_path"`
	Dir        string            `json:"cwd"`
	Prompt     string            `json:"prompt"`
	Summary    string            `json:"last_assistant_message"`
	Background []json.RawMessage `json:"background_tasks"`
	// Source is why a session starts, Reason why it ends.
	Source string `json:"source"`
	Reason string `json:"reason"`
	// Compaction is the summary of what was compacted.
	Compaction string `json:"compact_summary"`

	toolPayload
	dialectPayload
}

// Decode reads the payload: one JSON value, and not a byte further, as nobody
// promises that the agent closes the stream. It gives up when ctx ends.
func Decode(ctx context.Context, in io.Reader) (Payload, error) {
	type result struct {
		payload Payload
		err     error
	}
	done := make(chan result, 1)
	go func() { // left behind when ctx ends: the stream can't be woken
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("panic: %v", p)
			}
			done <- r
		}()
		r.err = json.NewDecoder(io.LimitReader(in, maxPayload)).Decode(&r.payload)
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		r.err = ctx.Err()
	}
	if r.err != nil {
		return Payload{}, fmt.Errorf("%w: %w", ErrPayload, r.err)
	}
	r.payload.fill()
	if err := session.CheckID(r.payload.SessionID); err != nil {
		return Payload{}, fmt.Errorf("%w: unusable session id", ErrPayload) // which may be anything
	}
	return r.payload, nil
}

// Handle carries out the event of the hook verb, and returns the output for the agent,
// which is valid also beside an error.
func Handle(ctx context.Context, r *strategy.Recorder, verb string, in workspace.Input) (Answer, error) {
	in.PromptContext = true
	switch verb {
	case "session-start":
		greeting, err := r.AgentEvents().SessionStart(ctx, in)
		if err != nil {
			return Answer{}, err
		}
		return started(ctx, r, in, greeting)
	case "session-brief":
		return briefed(ctx, r, in)
	case "user-prompt-submit":
		return prompted(ctx, r, in)
	case "stop", "stop-failure":
		return stopped(ctx, r, in)
	case "session-end":
		return Answer{}, r.AgentEvents().RecordEnd(ctx, in, guarded)
	case "pre-compact":
		return Answer{}, r.SavedContexts().Watcher.RecallCompact(ctx, in)
	case "post-compact":
		return Answer{}, r.SavedContexts().Watcher.RecallCompacted(ctx, in)
	case "pre-task":
		return Answer{raw: taskStarted(in)}, r.Lifecycle().Tasks.TaskStart(ctx, in)
	case "post-task":
		return Answer{raw: taskEnded(in)}, r.Lifecycle().Tasks.TaskEnd(ctx, in)
	case "subagent-stop":
		return Answer{}, r.Lifecycle().Tasks.TaskEnd(ctx, in)
	case "post-todo":
		return Answer{}, r.Lifecycle().Tasks.TaskProgress(ctx, in)
	default:
		return Answer{}, ErrVerb // without the verb, which nobody has checked for secrets
	}
}
