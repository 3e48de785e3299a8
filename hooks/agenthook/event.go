// Package agenthook connects the program to the hooks of agents: it installs hooks in their
// settings, decodes their input and encodes their output. Input of other agents is converted to the
// form of Claude Code.
package agenthook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Errors of an event.
var (
	// ErrVerb means that there is no hook with this name.
	ErrVerb = errors.New("unknown hook")
	// ErrPayload means that the agent's input is unusable.
	ErrPayload = errors.New("unusable payload")
)

// maxPayload is the maximum number of bytes read from standard input. Prompts that contain whole
// files are far below it.
const maxPayload = 16 << 20

// Payload is the input that an agent passes to a hook, in the form of Claude Code. All members but
// the first three may be absent.
type Payload struct {
	SessionID  string            `json:"session_id"`
	Transcript string            `json:"transcript_path"`
	Dir        string            `json:"cwd"`
	Prompt     string            `json:"prompt"`
	Summary    string            `json:"last_assistant_message"`
	Background []json.RawMessage `json:"background_tasks"`
	// Source is the reason of a session's start, Reason that of its end.
	Source string `json:"source"`
	Reason string `json:"reason"`
	// Compaction is the summary of the compacted context.
	Compaction string `json:"compact_summary"`
	// Messages are handed over by the plugin of an agent without transcript files.
	Messages []json.RawMessage `json:"messages"`

	toolPayload

	// Ignored reports that the event doesn't concern the session: a subagent's turn, or a prompt
	// that the user did not type.
	Ignored bool `json:"-"`
	// StartContextLost reports that the client discards the context returned at this start.
	StartContextLost bool `json:"-"`

	called json.RawMessage // the time of the call, in the agent's form
}

// Hook is a hook of an agent.
type Hook struct {
	Agent agent.Agent
	Verb  string
}

// Decode reads the payload: one JSON value, without waiting for the end of the stream, which the
// agent may not close. It returns early when ctx is done.
func (h Hook) Decode(ctx context.Context, in io.Reader) (Payload, error) {
	type result struct {
		payload Payload
		err     error
	}
	done := make(chan result, 1)
	go func() { // left running when ctx ends: the read can't be canceled
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("panic: %v", p)
			}
			done <- r
		}()
		var data json.RawMessage
		if r.err = json.NewDecoder(io.LimitReader(in, maxPayload)).Decode(&data); r.err != nil {
			return
		}
		if r.err = json.Unmarshal(data, &r.payload); r.err != nil {
			return
		}
		if read := dialectOf(h.Agent).read; read != nil {
			r.payload.Ignored = !read(&r.payload, h.Verb, data)
		}
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
	if err := session.CheckID(r.payload.SessionID); err != nil {
		return Payload{}, fmt.Errorf("%w: unusable session id", ErrPayload) // it may be any text
	}
	return r.payload, nil
}

// Handle executes the hook verb and returns the output for the agent, which is valid even if there
// is an error.
func Handle(ctx context.Context, w *workspace.Workspace, verb string, in workspace.Input) (Answer, error) {
	in.PromptContext = true
	switch verb {
	case "session-start":
		greeting, err := strategy.SessionStart(ctx, w, in)
		if err != nil {
			return Answer{}, err
		}
		text := "\n\nPowered by Entire:\n  This conversation will be linked to your next commit."
		if greeting.Others > 0 {
			text += fmt.Sprintf("\n  %d other active conversation(s) in this workspace will also be included."+
				"\n  Use 'entire status' for more information.", greeting.Others)
		}
		a := Answer{Event: "SessionStart", Message: text}
		err = guarded(func() error {
			o, err := savedcontext.RecallStart(ctx, w, in)
			a.Say(o.Messages...)
			if len(o.Parts) > 0 {
				a.Context = o.Parts[0]
			}
			return err
		})
		return a, err
	case "session-brief":
		// The second part of the output at a session's start is returned by another hook, as the
		// agent limits the output of each hook.
		o, err := savedcontext.PrepareOpening(ctx, w, in)
		if err != nil || len(o.Parts) < 2 {
			return Answer{}, err
		}
		return Answer{Event: "SessionStart", Context: o.Parts[1]}, nil
	case "user-prompt-submit":
		// The brief of the work that the prompt continues, if one is due.
		a := Answer{Event: "UserPromptSubmit"}
		if err := strategy.Prompt(ctx, w, in); err != nil {
			return a, err
		}
		err := guarded(func() (err error) {
			a.Context, err = savedcontext.RecallPrompt(ctx, w, in)
			if err == nil && a.Context == "" && in.GiveAtUse && w.Options.Recall.AtUse {
				a.Context, err = savedcontext.AtPrompt(ctx, w, in)
			}
			return err
		})
		return a, err
	case "post-tool":
		return Answer{}, strategy.ToolUsed(ctx, w, in)
	case "stop", "stop-failure":
		var a Answer
		if err := strategy.Stop(ctx, w, in); err != nil {
			return a, err
		}
		err := guarded(func() error {
			notice, err := savedcontext.RecallStop(ctx, w, in)
			if notice != "" {
				a.Say("Entire: " + notice)
			}
			return err
		})
		return a, err
	case "session-end":
		return Answer{}, strategy.RecordEnd(ctx, w, in, guarded)
	case "pre-compact":
		return Answer{}, savedcontext.RecallCompact(ctx, w, in)
	case "post-compact":
		return Answer{}, savedcontext.RecallCompacted(ctx, w, in)
	case "pre-task":
		lines := taskLines("PreToolUse", [][2]string{
			{"Session ID", in.SessionID}, {"Tool Use ID", in.Task.ToolUse}, {"Transcript", in.Transcript},
		})
		return Answer{raw: lines}, record.TaskStart(ctx, w, in)
	case "post-task":
		return Answer{raw: taskEnded(in)}, record.TaskEnd(ctx, w, in)
	case "subagent-stop":
		return Answer{}, record.TaskEnd(ctx, w, in)
	case "post-todo":
		return Answer{}, record.TaskProgress(ctx, w, in)
	default:
		return Answer{}, ErrVerb // without the verb, which may contain secrets
	}
}
