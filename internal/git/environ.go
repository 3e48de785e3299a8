package git

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
)

// processes starts git for a repository.
type processes struct {
	locate                           Locate
	dir                              string // where discovery began; relative paths start here
	root, gitDir, commonDir, objects string
	explicit                         bool // GIT_DIR is passed on to git

	environ func() []string // of all processes, except User commands
	started atomic.Int64
}

// command prepares every git process except that of permit. It counts the process, sets its
// environment and captures its stderr.
func (p *processes) command(ctx context.Context, q Command) (*exec.Cmd, *capture) {
	p.started.Add(1)
	cmd := exec.CommandContext(ctx, "git", q.Args...)
	cmd.Dir = p.root
	if cmd.Dir == "" {
		cmd.Dir = p.gitDir
	}
	if q.User {
		// The environment of git when the user calls it, without variables that would select
		// another repository or let git prompt on a terminal.
		env := slices.DeleteFunc(p.locate.inherited(), func(e string) bool { return strings.HasPrefix(e, "GPG_TTY=") })
		cmd.Env = slices.Concat(env, p.explicitEnviron(), q.Env)
	} else {
		cmd.Env = slices.Concat(p.environ(), q.Env)
		if index := p.locate.getenv("GIT_INDEX_FILE"); q.HookIndex && p.locate.Hook && index != "" {
			cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+absolute(p.dir, index))
		}
		switch {
		case q.LazyFetch:
			cmd.Env = append(cmd.Env, "GIT_NO_LAZY_FETCH=0")
		case !q.Network:
			// Before version 2.45 git ignores GIT_NO_LAZY_FETCH; without an allowed protocol its
			// lazy fetch fails before it connects.
			cmd.Env = append(cmd.Env, "GIT_ALLOW_PROTOCOL=none")
		}
	}
	stderr := &capture{}
	cmd.Stdin, cmd.Stderr = q.Stdin, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = waitDelay
	if q.NoTerminal {
		// The children of git are ended with it: ssh would keep waiting long after git has exited.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	}
	return cmd, stderr
}

// buildEnviron returns the environment of all git processes: the caller's, without variables that
// would select another repository.
func (p *processes) buildEnviron() []string {
	env := p.locate.inherited()
	env = append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1")
	if p.locate.Hook {
		// The variables by which git passes the repository to its hook.
		if p.locate.getenv("GIT_COMMON_DIR") != "" {
			env = append(env, "GIT_COMMON_DIR="+p.commonDir)
		}
		if p.locate.getenv("GIT_OBJECT_DIRECTORY") != "" {
			env = append(env, "GIT_OBJECT_DIRECTORY="+p.objects)
		}
		if list := p.locate.getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"); list != "" {
			env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+list)
		}
		if !p.explicit && p.locate.getenv("GIT_WORK_TREE") != "" {
			env = append(env, "GIT_WORK_TREE="+p.root)
		}
	}
	return append(env, p.explicitEnviron()...)
}

// inherited returns the caller's environment, without variables that select a repository.
func (l Locate) inherited() []string {
	all := l.Environ
	if all == nil {
		all = os.Environ()
	}
	env := make([]string, 0, len(all)+12)
	for _, e := range all {
		// These locate the repository and set how paths are interpreted (git rev-parse
		// --local-env-vars, and some more).
		switch name, _, _ := strings.Cut(e, "="); name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_INDEX_VERSION", "GIT_PREFIX",
			"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_IMPLICIT_WORK_TREE",
			"GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_CEILING_DIRECTORIES",
			"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
			"GIT_REPLACE_REF_BASE", "GIT_NO_REPLACE_OBJECTS", "GIT_CONFIG", "GIT_ATTR_SOURCE", "GIT_FLUSH",
			"GIT_REFLOG_ACTION", "GIT_NO_LAZY_FETCH", "GIT_DEFAULT_HASH":
		default:
			env = append(env, e)
		}
	}
	return env
}

// explicitEnviron returns variables that name the repository, if git would not find it.
func (p *processes) explicitEnviron() []string {
	switch {
	case !p.explicit:
		return nil
	case p.root == "":
		return []string{"GIT_DIR=" + p.gitDir}
	default:
		return []string{"GIT_DIR=" + p.gitDir, "GIT_WORK_TREE=" + p.root}
	}
}
