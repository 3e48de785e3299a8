package app

import (
	"errors"
	"fmt"
)

// Exit codes. 3 to 5 are those of agentfs and `entire fs`.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitNoStore     = 3
	ExitNoVersion   = 4
	ExitInactive    = 5
	ExitInterrupted = 130
)

// ErrDone ends a command that has printed all its output.
var ErrDone = errors.New("done")

// UsageError is the error of an invalid command line.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Usagef returns a UsageError: the command ends with ExitUsage.
func Usagef(format string, args ...any) error {
	return &UsageError{text: fmt.Sprintf(format, args...)}
}

// HintError is an error with a hint on what the user can do about it.
type HintError struct {
	err  error
	hint string
}

func (e *HintError) Error() string { return e.err.Error() }
func (e *HintError) Unwrap() error { return e.err }

// WithHint returns err with a hint for the user.
func WithHint(err error, hint string) error { return &HintError{err: err, hint: hint} }

// HintOf returns the hint of an error, "" if it has none.
func HintOf(err error) string {
	if h, ok := errors.AsType[*HintError](err); ok {
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

// WithCode returns err with the exit status of its command.
func WithCode(code int, err error) error { return &codeError{err: err, code: code} }

// CodeOf returns the exit code that an error requests, 0 if it requests none.
func CodeOf(err error) int {
	if e, ok := errors.AsType[*codeError](err); ok {
		return e.code
	}
	return 0
}

// ErrorJSON is an error in the output of a command with --json.
type ErrorJSON struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
	// Code is the exit code, if agentfs has a code of its own for the error.
	Code int `json:"code,omitempty"`
}

// ErrFailed ends a command with exit code 1 after it has printed the problem.
var ErrFailed = errors.New("failed")
