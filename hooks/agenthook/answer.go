package agenthook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/session/agent"
)

// Answer is the output of a hook for an agent.
type Answer struct {
	// Event is the event's name, which an answer with a context must contain.
	Event string
	// Message is shown to the person, Context is passed to the agent; empty for none.
	Message, Context string
	// Stored is the id of the last message handed over that is in the transcript.
	Stored string

	raw []byte // an answer that is plain text
}

// Say appends lines to the message for the person.
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

// Encode returns the output for an agent: one line of JSON, plain text, or nothing if the answer is
// empty.
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

// ErrContext means that an event was handled, except for its work on saved contexts.
var ErrContext = errors.New("context checkpoint")

// guarded calls do, whose failure must not affect the work done before: it converts a panic to an
// error.
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
