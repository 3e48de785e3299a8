package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
	// NoTerminal starts git without a terminal to ask at. When the context ends,
	// all that git has started ends with it.
	NoTerminal bool
	// Early starts git before the objects that were written have their names. Its
	// Stdin has to wait for SyncObjects.
	Early bool
}

// Subcommand returns the name of the git command.
func (c Command) Subcommand() string { return subcommand(c.Args) }

// Processes is how many git processes this Repo has started.
func (r *Repo) Processes() int { return int(r.processes.Load()) }

// Run starts git with args in the root of the working tree (the git directory
// if there is none) and gives its stdout. The error is an *ExitError if git
// failed, and wraps that of ctx if ctx ended it.
func (r *Repo) Run(ctx context.Context, args ...string) ([]byte, error) {
	return r.Do(ctx, Command{Args: args})
}

// Do runs a command and returns its stdout, also with an error. The error is an
// *ExitError if git failed, and wraps that of ctx if ctx ended it.
func (r *Repo) Do(ctx context.Context, q Command) ([]byte, error) {
	if !q.Early {
		if err := r.publish(); err != nil { // it may read what was written
			return nil, err
		}
	}
	cmd, stderr := r.command(ctx, q)
	var out bytes.Buffer
	cmd.Stdout = &out
	// ErrWaitDelay: git is done, but a daemon or filter that it started has its
	// streams.
	err := cmd.Run()
	if q.NoTerminal && ctx.Err() != nil {
		finish(cmd)
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return out.Bytes(), processError(ctx, q.Args, stderr, err)
	}
	return out.Bytes(), nil
}

// Stream runs a command, which must only read, and calls read with its stdout. An
// error of read ends the process and is returned.
func (r *Repo) Stream(ctx context.Context, q Command, read func(stdout io.Reader) error) error {
	if err := r.publish(); err != nil {
		return err
	}
	within, stop := context.WithCancel(ctx)
	defer stop()
	cmd, stderr := r.command(within, q)
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

// command prepares a git process. Every one is made here: this counts it,
// gives it its environment and keeps its stderr.
func (r *Repo) command(ctx context.Context, q Command) (*exec.Cmd, *capture) {
	r.processes.Add(1)
	cmd := exec.CommandContext(ctx, "git", q.Args...)
	cmd.Dir = r.Root
	if cmd.Dir == "" {
		cmd.Dir = r.GitDir
	}
	cmd.Env = r.commandEnviron(q)
	stderr := &capture{}
	cmd.Stdin, cmd.Stderr = q.Stdin, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = waitDelay
	if q.NoTerminal {
		isolate(cmd)
	}
	return cmd, stderr
}

// commandEnviron is the environment of a command.
func (r *Repo) commandEnviron(q Command) []string {
	if q.User {
		return slices.Concat(r.userEnviron(), q.Env)
	}
	env := slices.Concat(r.environ(), q.Env)
	if index := r.locate.getenv("GIT_INDEX_FILE"); q.HookIndex && r.locate.Hook && index != "" {
		env = append(env, "GIT_INDEX_FILE="+absolute(r.dir, index))
	}
	switch {
	case q.LazyFetch:
		env = append(env, "GIT_NO_LAZY_FETCH=0")
	case !q.Network:
		// A git older than 2.45 doesn't know GIT_NO_LAZY_FETCH; without an
		// allowed protocol its lazy fetch fails before it connects.
		env = append(env, "GIT_ALLOW_PROTOCOL=none")
	}
	return env
}

// userEnviron is the environment that git has when the user calls it, without what
// would lead it to another repository or let it ask at a terminal.
func (r *Repo) userEnviron() []string {
	env := slices.DeleteFunc(r.locate.inherited(), func(e string) bool { return strings.HasPrefix(e, "GPG_TTY=") })
	return append(env, r.explicitEnviron()...)
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

// buildEnviron is the environment of all git processes: the caller's, without
// what would lead git elsewhere.
func (r *Repo) buildEnviron() []string {
	env := r.locate.inherited()
	env = append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1")
	if r.locate.Hook {
		env = append(env, r.hookEnviron()...)
	}
	return append(env, r.explicitEnviron()...)
}

// inherited is the caller's environment, without what would lead git elsewhere.
func (l Locate) inherited() []string {
	all := l.Environ
	if all == nil {
		all = os.Environ()
	}
	env := make([]string, 0, len(all)+12)
	for _, e := range all {
		if name, _, _ := strings.Cut(e, "="); !dropped(name) {
			env = append(env, e)
		}
	}
	return env
}

// explicitEnviron tells git where the repository is if it can't find it.
func (r *Repo) explicitEnviron() []string {
	switch {
	case !r.explicit:
		return nil
	case r.Root == "":
		return []string{"GIT_DIR=" + r.GitDir}
	default:
		return []string{"GIT_DIR=" + r.GitDir, "GIT_WORK_TREE=" + r.Root}
	}
}

// hookEnviron is what git told its hook about the repository.
func (r *Repo) hookEnviron() []string {
	var env []string
	if r.locate.getenv("GIT_COMMON_DIR") != "" {
		env = append(env, "GIT_COMMON_DIR="+r.CommonDir)
	}
	if r.locate.getenv("GIT_OBJECT_DIRECTORY") != "" {
		env = append(env, "GIT_OBJECT_DIRECTORY="+r.objects)
	}
	if list := r.locate.getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"); list != "" {
		env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+list)
	}
	if !r.explicit && r.locate.getenv("GIT_WORK_TREE") != "" {
		env = append(env, "GIT_WORK_TREE="+r.Root)
	}
	return env
}

// dropped names the variables that say where the repository is or how paths
// are to be read (git rev-parse --local-env-vars, and some more).
func dropped(name string) bool {
	switch name {
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_INDEX_VERSION", "GIT_PREFIX",
		"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_IMPLICIT_WORK_TREE",
		"GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_CEILING_DIRECTORIES",
		"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
		"GIT_REPLACE_REF_BASE", "GIT_NO_REPLACE_OBJECTS", "GIT_CONFIG", "GIT_ATTR_SOURCE", "GIT_FLUSH",
		"GIT_REFLOG_ACTION", "GIT_NO_LAZY_FETCH", "GIT_DEFAULT_HASH":
		return true
	}
	return false
}

// capture keeps the beginning of what is written to it.
type capture struct{ buf bytes.Buffer }

func (c *capture) Write(p []byte) (int, error) {
	if room := stderrLimit - c.buf.Len(); room > 0 {
		c.buf.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func (c *capture) String() string { return c.buf.String() }

// isolate starts the command without a terminal to ask at, and ends it together
// with what it started: ssh would wait on, long after git is gone.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// finish ends what didn't heed that: a child that git was just about to start
// has git's own handling of signals for a moment.
func finish(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}

// Plainly is a line of git's stderr without the word that git puts before it.
func Plainly(line string) string {
	for _, word := range []string{"fatal: ", "error: "} {
		line = strings.TrimPrefix(line, word)
	}
	return line
}
