package ui

import (
	"errors"
	"strings"
)

// ErrAborted means that the user left a question without an answer.
var ErrAborted = errors.New("cancelled")

// NoTerminalError is a question that can't be asked for lack of a terminal.
type NoTerminalError struct {
	Title string
	Flag  string // answers the question
}

// Error returns a message with the flag.
func (e *NoTerminalError) Error() string { return e.Text() + " (pass " + e.Flag + ")" }

// Text returns a message without the flag. It has the title if that has a question: others only make
// sense above a list.
func (e *NoTerminalError) Text() string {
	const text = "can't ask without a terminal"
	if strings.Contains(e.Title, "?") {
		return text + ": " + e.Title
	}
	return text
}

// Question asks for one of several options, the first of which is the default, or for yes
// or no, with the default no unless Default is Yes. Flag is the flag that answers it, used
// in the error without a terminal.
type Question struct {
	Title   string
	Help    string
	Flag    string
	Options []Option
	Default string
	// Then returns values for Help and Options that depend on the answers to the previous
	// questions. If it returns no options, the question isn't asked and its answer is
	// empty. It may be called more than once.
	Then func(earlier []string) (help string, options []Option)
}

// Fallback returns the default answer of a question.
func (q Question) Fallback() string {
	switch {
	case len(q.Options) > 0:
		return q.Options[0].Value
	case q.Default == Yes:
		return Yes
	}
	return No
}

// Option is one of several answers: a label for the user and a value for the program.
type Option struct{ Label, Value string }

// The answers to a question without options.
const (
	Yes = "yes"
	No  = "no"
)
