package app

import (
	"errors"
	"fmt"
)

// The exit codes. 3 to 5 are those of agentfs and `entire fs`.
const (
	ExitOK          = 0
	ExitFailure     = 1
	ExitUsage       = 2
	ExitNoStore     = 3
	ExitNoVersion   = 4
	ExitInactive    = 5
	ExitInterrupted = 130
)

// ErrDone ends a command that has printed all there is to print.
var ErrDone = errors.New("done")

// UsageError is a command line that can't be understood.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Usagef returns an error of wrong usage: its command ends with the exit status for it.
func Usagef(format string, args ...any) error {
	return &UsageError{text: fmt.Sprintf(format, args...)}
}

// HintError is an error with what the user can do about it.
type HintError struct {
	err  error
	hint string
}

func (e *HintError) Error() string { return e.err.Error() }
func (e *HintError) Unwrap() error { return e.err }

// WithHint returns err with a hint for the user.
func WithHint(err error, hint string) error { return &HintError{err: err, hint: hint} }

// HintOf is the hint of an error, "" if it has none.
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

// WithCode returns err with the exit status that its command ends with.
func WithCode(code int, err error) error { return &codeError{err: err, code: code} }

// CodeOf is the exit code that an error requests, 0 if it doesn't.
func CodeOf(err error) int {
	if e, ok := errors.AsType[*codeError](err); ok {
		return e.code
	}
	return 0
}

// ErrorJSON is an error as a command with --json prints it.
type ErrorJSON struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty"`
	// Code is the exit code, where agentfs has one of its own for the error.
	Code int `json:"code,omitempty"`
}

// ErrFailed ends a command with exit code 1 that has printed what is wrong.
var ErrFailed = errors.New("failed")
