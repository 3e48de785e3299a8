package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Errors of Run.
var (
	// ErrNoProgram means that the program isn't on the PATH.
	ErrNoProgram = errors.New("not on the PATH")
	// ErrOutput means that the program printed more than Limit.
	ErrOutput = errors.New("it printed too much")
)

// Run is a program to be run to its end, without a terminal.
type Run struct {
	Path  string   // the program, as a name on the PATH or a path
	Args  []string // its arguments, without the program
	Dir   string   // its working directory
	Env   []string // its environment
	Stdin io.Reader
	// Limit is the maximum number of bytes of its output.
	Limit int
}

// ExitError reports a program that failed.
type ExitError struct {
	Program string
	Code    int    // -1 if a signal ended it
	Stderr  string // the beginning of its stderr
}

func (e *ExitError) Error() string {
	line, _, _ := bytes.Cut(bytes.TrimSpace([]byte(e.Stderr)), []byte("\n"))
	return fmt.Sprintf("%s: exit status %d: %s", e.Program, e.Code, line)
}

// endDelay is the time that a program has to exit after SIGTERM.
const endDelay = 2 * time.Second

// Output runs the program and returns its output, even on an error. When ctx ends, the program and
// its children are ended, and the error wraps that of ctx. The error is ErrNoProgram if there is no
// such program, and an *ExitError if it failed.
func (r Run) Output(ctx context.Context) ([]byte, error) {
	const stderrLimit = 4 << 10
	name := filepath.Base(r.Path)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, r.Path, r.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.Dir, r.Env, r.Stdin
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = endDelay
	out := &bounded{room: r.Limit, full: func() { cancel(ErrOutput) }}
	said := &bounded{room: stderrLimit, full: func() {}}
	cmd.Stdout, cmd.Stderr = out, said
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil { // processes that ignored SIGTERM
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return out.buf.Bytes(), nil
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%s: %w", name, ErrNoProgram)
	case ctx.Err() != nil:
		return out.buf.Bytes(), fmt.Errorf("%s: %w", name, context.Cause(ctx))
	case failed:
		return out.buf.Bytes(), &ExitError{Program: name, Code: exit.ExitCode(), Stderr: said.buf.String()}
	default:
		return out.buf.Bytes(), fmt.Errorf("%s: %w", name, err)
	}
}

// bounded keeps the beginning of the data written to it, and calls full once there is no more room.
type bounded struct {
	buf  bytes.Buffer
	room int
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	kept := min(len(p), b.room)
	b.buf.Write(p[:kept])
	if b.room -= kept; kept < len(p) {
		b.full()
	}
	return len(p), nil
}

// Wait runs the program, writes all its output to out, and returns its exit status: if a signal
// ended it, 128 plus the number of the signal, as in a shell. Processes that it left running are
// killed. When ctx ends, the program is ended, and the error wraps that of ctx. The error is
// ErrNoProgram if there is no such program. Limit is ignored.
func (r Run) Wait(ctx context.Context, out io.Writer) (status int, err error) {
	const bySignal = 128
	cmd := exec.CommandContext(ctx, r.Path, r.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = r.Dir, r.Env, r.Stdin, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = endDelay
	err = cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // in most cases no process is left
	}
	name := filepath.Base(r.Path)
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("%s: %w", name, context.Cause(ctx))
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return 0, nil
	case errors.Is(err, exec.ErrNotFound):
		return 0, fmt.Errorf("%s: %w", name, ErrNoProgram)
	case !failed:
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if is, ok := exit.Sys().(syscall.WaitStatus); ok && is.Signaled() {
		return bySignal + int(is.Signal()), nil
	}
	return exit.ExitCode(), nil
}

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
