package cli

import (
	"errors"
	"fmt"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// errDone ends a command that has said all there is to say.
var errDone = errors.New("done")

// usageError is a command line that can't be understood.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// hintError is an error with what the user can do about it.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }
func (e *hintError) Unwrap() error { return e.err }

func hinted(err error, hint string) error { return &hintError{err: err, hint: hint} }

// jsonError is an error as a command with --json prints it.
type jsonError struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
}
