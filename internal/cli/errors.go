package cli

import (
	"errors"
	"fmt"
)

// The exit codes. 3 to 5 are those of agentfs and `entire fs`.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNoStore     = 3
	exitNoVersion   = 4
	exitInactive    = 5
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

// hintOf is the hint of an error, "" if it has none.
func hintOf(err error) string {
	if h, ok := errors.AsType[*hintError](err); ok {
		return h.hint
	}
	if own, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return own.Hint()
	}
	return ""
}

// codeError is an error with an exit code of its own.
type codeError struct {
	err  error
	code int
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

func coded(code int, err error) error { return &codeError{err: err, code: code} }

// ownCode is the exit code that an error asks for, 0 if it doesn't.
func ownCode(err error) int {
	if e, ok := errors.AsType[*codeError](err); ok {
		return e.code
	}
	return 0
}

// jsonError is an error as a command with --json prints it.
type jsonError struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
	// Code is the exit code, where agentfs has one of its own for the error.
	Code int `json:"code,omitempty"`
}
