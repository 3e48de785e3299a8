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
	return fmt.Sprintf("git %s: exit status %d: %s", subcommand(e.Args), e.Code, line)
}

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

// request is a git process to be.
type request struct {
	args    []string
	stdin   io.Reader
	env     []string // on top of the usual
	network bool     // may talk to a remote
	alone   bool     // has nobody to ask, and ends with all that it started
	early   bool     // reads no object before it has its stdin, which waits for them
}

// lazyFetch lets git fetch what a partial clone lacks.
const lazyFetch = "GIT_NO_LAZY_FETCH=0"

// Processes is how many git processes this Repo has started.
func (r *Repo) Processes() int { return int(r.processes.Load()) }

// Run starts git with args in the root of the working tree (the git directory
// if there is none) and gives its stdout. The error is an *ExitError if git
// failed, and wraps that of ctx if ctx ended it.
func (r *Repo) Run(ctx context.Context, args ...string) ([]byte, error) {
	return r.run(ctx, request{args: args})
}

func (r *Repo) run(ctx context.Context, q request) ([]byte, error) {
	if !q.early {
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
	if q.alone && ctx.Err() != nil {
		finish(cmd)
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return out.Bytes(), processError(ctx, q.args, stderr, err)
	}
	return out.Bytes(), nil
}

// command prepares a git process. Every one is made here: this counts it,
// gives it its environment and keeps its stderr.
func (r *Repo) command(ctx context.Context, q request) (*exec.Cmd, *capture) {
	r.processes.Add(1)
	cmd := exec.CommandContext(ctx, "git", q.args...)
	cmd.Dir = r.Root
	if cmd.Dir == "" {
		cmd.Dir = r.GitDir
	}
	cmd.Env = slices.Concat(r.environ(), q.env)
	if !q.network {
		// A git older than 2.45 doesn't know GIT_NO_LAZY_FETCH; without an
		// allowed protocol its lazy fetch fails before it connects.
		cmd.Env = append(cmd.Env, "GIT_ALLOW_PROTOCOL=none")
	}
	stderr := &capture{}
	cmd.Stdin, cmd.Stderr = q.stdin, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = waitDelay
	if q.alone {
		isolate(cmd)
	}
	return cmd, stderr
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
