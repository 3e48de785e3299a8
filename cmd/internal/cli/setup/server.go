package setup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/jsonedit"
	"github.com/seed-3aff656d/entire/session/agent"
)

// ClaudeProgram is the name of Claude Code's program.
const ClaudeProgram = "claude"

// Asking is the state of the questions at a clear in a worktree: the hooks that pass them to our
// MCP server, and that server.
type Asking struct {
	// File is the file with the most hooks, Installed their number; All reports that none is
	// missing.
	File      string
	Installed int
	All       bool
	// Server is the server with the name of ours, in Scope; Found reports whether there is one.
	Server claude.Server
	Scope  claude.Scope
	Found  bool
}

// CheckAsking examines the hooks and the server.
func CheckAsking(a *app.App, repo *git.Repo) (Asking, error) {
	at, err := CheckQuestions(repo)
	if err != nil {
		return at, err
	}
	at.Server, at.Scope, at.Found, err = FindServer(a, repo)
	return at, err
}

// CheckQuestions examines only the hooks.
func CheckQuestions(repo *git.Repo) (Asking, error) {
	var at Asking
	files := app.ClaudeFiles(repo.Root)
	failed := make([]error, 0, len(files))
	for _, path := range files {
		n, all, err := app.ClaudeSettings(repo, path).Asking()
		if n > at.Installed {
			at.File, at.Installed = path, n
		}
		at.All = at.All || all
		failed = append(failed, err)
	}
	return at, errors.Join(failed...)
}

// ProjectServers returns the project's own list of MCP servers for Claude Code.
func ProjectServers(repo *git.Repo, root string) agenthook.Servers {
	return app.Servers(repo, agent.ClaudeCode(), root)
}

// AgentServers returns an agent's list of MCP servers in the repository's worktree; false if it
// reads none from a project.
func AgentServers(repo *git.Repo, a agent.Agent) (agenthook.Servers, bool) {
	s := app.Servers(repo, a, repo.Root)
	return s, s.Path != ""
}

// FindServer finds the server that the agent starts in the repository's worktree: the user's own
// takes precedence over the project's.
func FindServer(a *app.App, repo *git.Repo) (claude.Server, claude.Scope, bool, error) {
	s, scope, found, err := app.ClaudeClient(a).Server(claudeProjects(repo)...)
	if err != nil || found && scope == claude.LocalScope {
		return s, scope, found, err
	}
	shared, ok, err := ProjectServers(repo, repo.Root).Server()
	if err != nil || ok {
		return shared, claude.ProjectScope, ok, err
	}
	return s, scope, found, nil
}

// claudeProjects returns the folders under which Claude Code may keep the user's settings of a
// project: for a linked worktree these are the main worktree, the repository and the worktree
// itself.
func claudeProjects(repo *git.Repo) []string {
	if repo.WorktreeID == "" {
		return []string{repo.Root}
	}
	return []string{repo.MainRoot(), repo.CommonDir, repo.Root}
}

// ShownCommand returns a command line of Claude Code for the user to type.
func ShownCommand(args []string) string {
	return "`" + ClaudeProgram + " " + strings.Join(args, " ") + "`"
}

// RegisterServer registers the server with the agent, unless it is registered.
func RegisterServer(ctx context.Context, a *app.App, repo *git.Repo) error {
	if _, scope, found, err := app.ClaudeClient(a).Server(claudeProjects(repo)...); err == nil && found {
		return nil // for this project or for all
	} else if err != nil {
		return fmt.Errorf("%s: %w", scope, err)
	}
	err := app.ClaudeClient(a).Register(ctx, repo.Root)
	if _, _, found, looked := app.ClaudeClient(a).Server(claudeProjects(repo)...); err != nil && (looked != nil || !found) {
		return app.WithHint(fmt.Errorf("register the MCP server: %w", err), "run "+ShownCommand(claude.RegisterArgs())+" in "+repo.Root+", and the command again")
	}
	return nil
}

// Removal holds the worktrees that no longer need the server, and all worktrees.
type Removal struct{ From, Roots []string }

// RemoveServer removes the server from the projects' lists in the worktrees From, and from the
// user's own list if no other worktree has hooks that ask it.
func RemoveServer(ctx context.Context, a *app.App, repo *git.Repo, which Removal) error {
	for _, root := range which.From {
		if err := RemoveListed(a, app.AllServers(repo, root)...); err != nil {
			return err
		}
	}
	return UnregisterServer(ctx, a, repo, which)
}

// UnregisterServer removes the server from the user's own list of Claude Code, if no other worktree
// has hooks that ask it.
func UnregisterServer(ctx context.Context, a *app.App, repo *git.Repo, which Removal) error {
	for _, root := range which.Roots {
		if slices.Contains(which.From, root) {
			continue
		}
		for _, path := range app.ClaudeFiles(root) {
			if n, _, err := app.ClaudeSettings(repo, path).Asking(); err != nil || n > 0 {
				return nil //nolint:nilerr // an unreadable file may have hooks that ask
			}
		}
	}
	s, scope, found, err := app.ClaudeClient(a).Server(claudeProjects(repo)...)
	if err == nil && (!found || scope != claude.LocalScope || !s.IsOurs()) {
		return nil
	}
	if err == nil {
		err = app.ClaudeClient(a).Unregister(ctx, repo.Root)
	}
	if err != nil {
		a.Streams.Notef("The MCP server is still registered with %s: %v", ClaudeLabel, err)
		a.Streams.Hint("run " + ShownCommand(claude.UnregisterArgs()) + " in " + repo.Root)
		return nil
	}
	a.Streams.Printf("%s Removed the MCP server\n", a.Streams.Paint(ui.Green, "✓"))
	return nil
}

// RemoveListed removes the server from lists of a project.
func RemoveListed(a *app.App, lists ...agenthook.Servers) error {
	var failed []error
	for _, s := range lists {
		changed, err := s.Uninstall()
		if changed {
			a.Streams.Printf("%s Removed the MCP server (%s)\n", a.Streams.Paint(ui.Green, "✓"), s.Path)
		}
		if _, unreadable := errors.AsType[*jsonedit.Error](err); unreadable {
			a.Streams.Notef("%v", err) // it may not be ours
			continue
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// RemoveSettings removes everything of ours from the agent's settings. again restores the questions, the
// status line and the server that were there; it is to be called after the hooks are installed
// again.
func RemoveSettings(s agenthook.Settings) (again func(failed *error), err error) {
	n, _, err := s.Asking()
	if err != nil {
		return nil, err
	}
	_, _, line, err := s.StatusLine()
	if err != nil {
		return nil, err
	}
	server, err := s.HasServer()
	if err != nil {
		return nil, err
	}
	again = func(failed *error) {
		var asked, lined, served error
		if n > 0 {
			_, asked = s.InstallAsking()
		}
		if line {
			_, lined = s.InstallStatusLine()
		}
		if server {
			_, served = s.InstallServer()
		}
		*failed = errors.Join(*failed, asked, lined, served)
	}
	_, err = s.Uninstall()
	return again, err
}

// Worktrees returns the roots of all existing worktrees.
func Worktrees(repo *git.Repo) []string {
	var roots []string
	for _, w := range git.Worktrees(repo) {
		if path, err := filepath.EvalSymlinks(w.Root); err == nil && !slices.Contains(roots, path) {
			roots = append(roots, path)
		}
	}
	return roots
}
