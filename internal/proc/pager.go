package proc

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
)

// Pager is a program that shows text a screen at a time.
type Pager struct {
	Command  string // in shell syntax
	Env      []string
	Out, Err io.Writer
}

// Exit codes of a shell that can't start its command.
const (
	notExecutable = 126
	notFound      = 127
)

// Show runs the pager on the text, and waits until the user quits it, which may be before the end.
// It returns false if the pager can't be started; then nothing has been shown.
func (p Pager) Show(text io.Reader) (bool, error) {
	cmd := exec.Command("/bin/sh", "-c", p.Command) //nolint:noctx // it is its user who ends it: an interrupt is the pager's business
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Env, text, p.Out, p.Err
	err := cmd.Run() // a pager that leaves input unread is no error of Run
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return true, nil
	case ended:
		code := exit.ExitCode()
		return code != notExecutable && code != notFound, nil
	}
	return false, fmt.Errorf("start %s: %w", p.Command, err)
}
