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

// stderrLimit is the number of bytes of a process's stderr that are kept.
const stderrLimit = 16 << 10

// waitDelay is the time that a git process has to exit after an interrupt.
const waitDelay = 500 * time.Millisecond

// ExitError reports a git process that failed.
type ExitError struct {
	Args   []string // without "git"
	Code   int      // -1 if a signal ended it
	Stderr string   // at most 16 KiB
}

// Error contains the command without its arguments, and the first line of stderr.
func (e *ExitError) Error() string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.Stderr), "\n")
	return fmt.Sprintf("git %s: exit status %d: %s", e.Subcommand(), e.Code, line)
}

// Subcommand returns the name of the git command that failed.
func (e *ExitError) Subcommand() string { return subcommand(e.Args) }

// subcommand returns the first argument that is not an option.
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
	Env   []string // in addition to the usual environment
	// User runs git as the user's own command: in their environment, where it may use the network.
	User bool
	// Network permits connections to remotes.
	Network bool
	// LazyFetch permits connections that fetch objects missing from a partial clone.
	LazyFetch bool
	// HookIndex lets git read the index that git passed to the hook.
	HookIndex bool
	// Progress means that Args contain ProgressFlag, so that git writes its progress to stderr.
	Progress bool
	// NoTerminal starts git without a terminal to prompt on. When the context ends, all processes
	// that git started are ended, too.
	NoTerminal bool
	// Early starts git before pending objects have their names. Git must not read any of them,
	// unless its Stdin waits for NameObjects.
	Early bool
}

// Subcommand returns the name of the git command.
func (c Command) Subcommand() string { return subcommand(c.Args) }

// Processes returns the number of git processes started by this Repo.
func (r *Repo) Processes() int { return int(r.processes.started.Load()) }

// Run starts git with args in the root of the working tree (the git directory if there is none) and
// returns its stdout. The error is an *ExitError if git failed, and wraps that of ctx if ctx ended
// git.
func (r *Repo) Run(ctx context.Context, args ...string) ([]byte, error) {
	return r.Do(ctx, Command{Args: args})
}

// Do runs a command and returns its stdout, even on an error. The error is an *ExitError if git
// failed, and wraps that of ctx if ctx ended git.
func (r *Repo) Do(ctx context.Context, q Command) ([]byte, error) {
	if !q.Early {
		if err := r.Loose.pending.publish(); err != nil { // git may read pending objects
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
	// ErrWaitDelay: git has exited, but a daemon or filter that it started holds its streams open.
	err := cmd.Run()
	if q.NoTerminal && ctx.Err() != nil {
		// A child that git was about to start still has git's signal handlers for a moment, so
		// SIGTERM may not have ended it.
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return out.Bytes(), processError(ctx, q.Args, stderr, err)
	}
	return out.Bytes(), nil
}

// Stream runs a read-only command and calls read with its stdout. An error of read ends the process
// and is returned.
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

// capture keeps the beginning of the data written to it, without git's progress.
type capture struct {
	buf      bytes.Buffer
	progress *progressReader // nil if git doesn't report progress
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

// String returns the kept bytes, including an unterminated last line.
func (c *capture) String() string {
	if c.progress != nil {
		c.keep(c.progress.rest)
		c.progress.rest = nil
	}
	return c.buf.String()
}

// TrimStderrPrefix returns a line of git's stderr without git's prefix, "fatal: " or "error: ".
func TrimStderrPrefix(line string) string {
	for _, word := range []string{"fatal: ", "error: "} {
		line = strings.TrimPrefix(line, word)
	}
	return line
}
