package setup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/agent"
)

// Names of the default agent.
const (
	ClaudeName  = "claude-code"
	ClaudeLabel = "Claude Code"
)

// AgentHooks is the state of an agent's hooks in a worktree.
type AgentHooks struct {
	Agent agent.Agent
	// Settings is the file with the most hooks: a file of the project, or if those have none, the
	// user's. Without hooks it is the project's.
	Settings  agenthook.Settings
	Installed int
	Missing   []string // events without a hook
	// InProject reports whether the agent's folder is in the worktree.
	InProject bool
	// Former reports whether there are hooks that only the former Entire CLI installs.
	Former bool
}

// Complete reports whether every hook is installed.
func (h AgentHooks) Complete() bool { return len(h.Missing) == 0 }

// UserHooks returns those settings files of all agents for all projects of the user that have
// hooks.
func UserHooks(a *app.App) []agenthook.Settings {
	var all []agenthook.Settings
	for _, by := range agent.All() {
		s, ok := app.UserSettings(a, by)
		if !ok {
			continue
		}
		if n, _, err := s.Check(); err == nil && n > 0 {
			all = append(all, s)
		}
	}
	return all
}

// CheckAgents returns the state of the hooks of each agent, Claude Code's first.
func CheckAgents(a *app.App, repo *git.Repo) ([]AgentHooks, error) {
	all := agent.All()
	list := make([]AgentHooks, len(all))
	failed := make([]error, len(all))
	for i, by := range all {
		list[i], failed[i] = CheckAgent(a, repo, by)
	}
	return list, errors.Join(failed...)
}

// CheckAgent finds an agent's hooks in any of its files. An event is missing only if no file of the
// project has its hook. If these files have no hooks, the user's file is checked.
func CheckAgent(a *app.App, repo *git.Repo, by agent.Agent) (AgentHooks, error) {
	files := agenthook.Files(by, repo.Root)
	found := AgentHooks{Agent: by, Settings: app.AgentSettings(repo, by, files[0])}
	if _, err := os.Stat(filepath.Dir(files[0])); err == nil {
		found.InProject = true
	}
	var failed []error
	for i, path := range files {
		s := app.AgentSettings(repo, by, path)
		n, missing, err := s.Check()
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if n > found.Installed {
			found.Settings, found.Installed = s, n
		}
		if i == 0 {
			found.Missing = missing
		} else {
			found.Missing = slices.DeleteFunc(found.Missing, func(e string) bool { return !slices.Contains(missing, e) })
		}
		// A hook that only the former Entire CLI installs.
		data, err := os.ReadFile(path)
		found.Former = found.Former || err == nil && bytes.Contains(data, []byte("hooks claude-code post-todo\""))
	}
	if user, ok := app.UserSettings(a, by); ok && found.Installed == 0 {
		if n, missing, err := user.Check(); err == nil && n > 0 {
			found.Settings, found.Installed, found.Missing = user, n, missing
		}
	}
	return found, errors.Join(failed...)
}

// StatusLineFile returns the settings file with our status line, "" if there is none.
func StatusLineFile(repo *git.Repo) string {
	for _, path := range app.ClaudeFiles(repo.Root) {
		if _, _, ours, err := app.ClaudeSettings(repo, path).StatusLine(); err == nil && ours {
			return path
		}
	}
	return ""
}
