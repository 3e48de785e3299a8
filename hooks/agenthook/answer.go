package agenthook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Answer is the output of a hook for an agent.
type Answer struct {
	// Event is the event's name, as an answer with a context has to have it.
	Event string
	// Message is shown to the person, Context given to the agent; empty for
	// none.
	Message, Context string
	// Stored is the id of the last message that a transcript has of those handed over.
	Stored string

	raw []byte // an answer that is text of its own
}

// Say adds lines for the person.
func (a *Answer) Say(lines ...string) {
	for _, line := range lines {
		switch {
		case line == "":
		case a.Message == "":
			a.Message = line
		default:
			a.Message += "\n" + line
		}
	}
}

// Encode is the answer as it is printed for an agent: one line of JSON, or nothing if
// it is empty.
func (a *Answer) Encode(to agent.Agent) ([]byte, error) {
	type specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	}
	type output struct {
		Message string    `json:"systemMessage,omitempty"`
		Direct  string    `json:"additionalContext,omitempty"`
		Snake   string    `json:"additional_context,omitempty"`
		Stored  string    `json:"stored,omitempty"`
		Output  *specific `json:"hookSpecificOutput,omitempty"`
	}
	by := dialectOf(to).reply
	if a.raw != nil && a.Message == "" && a.Context == "" && by.raw {
		return a.raw, nil
	}
	r := output{Message: a.Message}
	if by.silent {
		r.Message = ""
	}
	switch {
	case by.snake:
		r.Snake = a.Context
	case by.direct:
		r.Direct, r.Stored = a.Context, a.Stored
	case a.Context != "":
		r.Output = &specific{a.Event, a.Context}
	}
	if r == (output{}) {
		return nil, nil
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("encode reply: %w", err)
	}
	return []byte(b.String()), nil
}

// ErrContext means that an event was carried out but for what it has to do with
// saved contexts.
var ErrContext = errors.New("context checkpoint")

// guarded runs what must not take with it what was done before: a panic becomes
// an error.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrContext, err)
		}
	}()
	return do()
}

// started is the answer to a session's start: a greeting, and what was before.
func started(ctx context.Context, r *strategy.Recorder, in workspace.Input, g strategy.Greeting) (Answer, error) {
	a := Answer{Event: "SessionStart", Message: greeting(g)}
	err := guarded(func() error {
		o, err := r.SavedContexts().Injector.RecallStart(ctx, in)
		a.Say(o.Messages...)
		if len(o.Parts) > 0 {
			a.Context = o.Parts[0]
		}
		return err
	})
	return a, err
}

// briefed is the second part of the output at a session's start, as the agent limits
// the output of one hook.
func briefed(ctx context.Context, r *strategy.Recorder, in workspace.Input) (Answer, error) {
	o, err := r.SavedContexts().Injector.Opening(ctx, in)
	if err != nil || len(o.Parts) < 2 {
		return Answer{}, err
	}
	return Answer{Event: "SessionStart", Context: o.Parts[1]}, nil
}

// prompted returns the answer to a prompt: the brief of the work that it continues, if one
// is due.
func prompted(ctx context.Context, r *strategy.Recorder, in workspace.Input) (Answer, error) {
	a := Answer{Event: "UserPromptSubmit"}
	if err := r.AgentEvents().Prompt(ctx, in); err != nil {
		return a, err
	}
	err := guarded(func() (err error) {
		a.Context, err = r.SavedContexts().Injector.RecallPrompt(ctx, in)
		return err
	})
	return a, err
}

// stopped is the answer to the end of a turn.
func stopped(ctx context.Context, r *strategy.Recorder, in workspace.Input) (a Answer, err error) {
	if err := r.AgentEvents().Stop(ctx, in); err != nil {
		return a, err
	}
	err = guarded(func() error {
		notice, err := r.SavedContexts().Watcher.RecallStop(ctx, in)
		if notice != "" {
			a.Say("Entire: " + notice)
		}
		return err
	})
	return a, err
}

// greeting is the message that Claude Code shows when a session starts.
func greeting(g strategy.Greeting) string {
	text := "\n\nPowered by Entire:\n  This conversation will be linked to your next commit."
	if g.Others > 0 {
		text += fmt.Sprintf("\n  %d other active conversation(s) in this workspace will also be included."+
			"\n  Use 'entire status' for more information.", g.Others)
	}
	return text
}
