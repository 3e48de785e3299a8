package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// stderrLimit is how much of a process's stderr is kept.
const stderrLimit = 16 << 10

// waitDelay is how long a git process has to end after it was interrupted.
const waitDelay = 500 * time.Millisecond

// ExitError is a git process that failed.
type ExitError struct {
	Args   []string // without "git"
	Code   int      // -1 if a signal ended it
	Stderr string   // at most 16 KiB
}

// Error names the command, not its arguments, and the first line of stderr.
func (e *ExitError) Error() string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.Stderr), "\n")
	return fmt.Sprintf("git %s: exit status %d: %s", e.Subcommand(), e.Code, line)
}

// Subcommand returns the name of the git command that failed.
func (e *ExitError) Subcommand() string { return subcommand(e.Args) }

// subcommand is the first argument that is no option.
func subcommand(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c" || args[i] == "-C":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return ""
}

// Command describes a git process.
type Command struct {
	Args  []string // without "git"
	Stdin io.Reader
	Env   []string // in addition to the usual
	// User runs git as the user's own command: in their environment, in which it
	// may use the network.
	User bool
	// Network permits connections to remotes.
	Network bool
	// LazyFetch permits, and needs, connections that fetch what a partial clone lacks.
	LazyFetch bool
	// HookIndex lets git read the index that it named to its hook.
	HookIndex bool
	// Progress reports that Args have ProgressFlag, so that git writes its progress to stderr.
	Progress bool
	// NoTerminal starts git without a terminal to ask at. When the context ends,
	// all that git has started ends with it.
	NoTerminal bool
	// Early starts git before the objects that were written have their names. It must
	// not read any of them, or its Stdin has to wait for NameObjects.
	Early bool
}

// Subcommand returns the name of the git command.
func (c Command) Subcommand() string { return subcommand(c.Args) }

// Processes is how many git processes this Repo has started.
func (r *Repo) Processes() int { return int(r.processes.started.Load()) }

// Run starts git with args in the root of the working tree (the git directory
// if there is none) and returns its stdout. The error is an *ExitError if git
// failed, and wraps that of ctx if ctx ended it.
func (r *Repo) Run(ctx context.Context, args ...string) ([]byte, error) {
	return r.Do(ctx, Command{Args: args})
}

// Do runs a command and returns its stdout, also with an error. The error is an
// *ExitError if git failed, and wraps that of ctx if ctx ended it.
func (r *Repo) Do(ctx context.Context, q Command) ([]byte, error) {
	if !q.Early {
		if err := r.Loose.pending.publish(); err != nil { // it may read what was written
			return nil, err
		}
	}
	cmd, stderr := r.processes.command(ctx, q)
	if q.Progress && r.Progress != nil {
		stderr.progress = &progressReader{report: r.Progress}
		cmd.Env = append(cmd.Env, "GIT_PROGRESS_DELAY=0")
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	// ErrWaitDelay: git is done, but a daemon or filter that it started has its
	// streams.
	err := cmd.Run()
	if q.NoTerminal && ctx.Err() != nil {
		// A child that git was just about to start has git's own handling of signals
		// for a moment, so SIGTERM may not have ended it.
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return out.Bytes(), processError(ctx, q.Args, stderr, err)
	}
	return out.Bytes(), nil
}

// Stream runs a command, which must only read, and calls read with its stdout. An
// error of read ends the process and is returned.
func (r *Repo) Stream(ctx context.Context, q Command, read func(stdout io.Reader) error) error {
	if err := r.Loose.pending.publish(); err != nil {
		return err
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	cmd, stderr := r.processes.command(within, q)
	cmd.Cancel = func() error { return cmd.Process.Kill() } // it only reads
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return processError(ctx, q.Args, stderr, err)
	}
	if err := read(out); err != nil {
		stop()
		_ = cmd.Wait()
		return fmt.Errorf("git %s: %w", q.Subcommand(), errors.Join(ctx.Err(), err))
	}
	if err := cmd.Wait(); err != nil {
		return processError(ctx, q.Args, stderr, err)
	}
	return nil
}

func processError(ctx context.Context, args []string, stderr *capture, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", subcommand(args), context.Cause(ctx))
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &ExitError{Args: slices.Clone(args), Code: exit.ExitCode(), Stderr: stderr.String()}
	}
	return fmt.Errorf("git %s: %w", subcommand(args), err)
}

// capture keeps the beginning of what is written to it, without git's progress.
type capture struct {
	buf      bytes.Buffer
	progress *progressReader // nil where git isn't asked for it
}

func (c *capture) Write(p []byte) (int, error) {
	kept := p
	if c.progress != nil {
		kept = c.progress.take(p)
	}
	c.keep(kept)
	return len(p), nil
}

func (c *capture) keep(p []byte) {
	if room := stderrLimit - c.buf.Len(); room > 0 {
		c.buf.Write(p[:min(room, len(p))])
	}
}

// String is what was kept, with the last line even if it has no end.
func (c *capture) String() string {
	if c.progress != nil {
		c.keep(c.progress.rest)
		c.progress.rest = nil
	}
	return c.buf.String()
}

// Plainly is a line of git's stderr without the word that git puts before it.
func Plainly(line string) string {
	for _, word := range []string{"fatal: ", "error: "} {
		line = strings.TrimPrefix(line, word)
	}
	return line
}
