package setup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
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

// AgentSettings returns the settings file of an agent at path.
func AgentSettings(repo *git.Repo, a agent.Agent, path string) agenthook.Settings {
	return agenthook.Settings{Agent: a, Path: path, Backup: backupDir(repo.CommonDir)}
}

// UserSettings returns the settings file of an agent for all projects of the user; false if there
// is no home directory.
func UserSettings(a *app.App, by agent.Agent) (agenthook.Settings, bool) {
	path, own := agenthook.UserFile(by, a.Getenv, a.Home), settings.UserFile(a.SettingsSources(nil))
	if path == "" || own == "" {
		return agenthook.Settings{}, false
	}
	return agenthook.Settings{Agent: by, Path: path, Backup: filepath.Join(filepath.Dir(own), "backup"), User: true}, true
}

// UserHooks returns those settings files of all agents for all projects of the user that have
// hooks.
func UserHooks(a *app.App) []agenthook.Settings {
	var all []agenthook.Settings
	for _, by := range agent.All() {
		s, ok := UserSettings(a, by)
		if !ok {
			continue
		}
		if n, _, err := s.Check(); err == nil && n > 0 {
			all = append(all, s)
		}
	}
	return all
}

// AllSettings returns the settings files of all agents in the worktree at root, whether they exist
// or not.
func AllSettings(repo *git.Repo, root string) []agenthook.Settings {
	var all []agenthook.Settings
	for _, a := range agent.All() {
		for _, path := range agenthook.Files(a, root) {
			all = append(all, AgentSettings(repo, a, path))
		}
	}
	return all
}

// Maintained returns the settings files that a hook of an agent keeps up to date: those of the
// worktree, and the user's own of this agent.
func Maintained(a *app.App, repo *git.Repo, by agent.Agent) []agenthook.Settings {
	all := AllSettings(repo, repo.Root)
	if s, ok := UserSettings(a, by); ok {
		all = append(all, s)
	}
	return all
}

// ClaudeFiles returns the two settings files of Claude Code, the project's first.
func ClaudeFiles(root string) []string { return agenthook.Files(agent.ClaudeCode(), root) }

// ClaudeSettings returns the settings file of Claude Code at path.
func ClaudeSettings(repo *git.Repo, path string) agenthook.Settings {
	return AgentSettings(repo, agent.ClaudeCode(), path)
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
	found := AgentHooks{Agent: by, Settings: AgentSettings(repo, by, files[0])}
	if _, err := os.Stat(filepath.Dir(files[0])); err == nil {
		found.InProject = true
	}
	var failed []error
	for i, path := range files {
		s := AgentSettings(repo, by, path)
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
	if user, ok := UserSettings(a, by); ok && found.Installed == 0 {
		if n, missing, err := user.Check(); err == nil && n > 0 {
			found.Settings, found.Installed, found.Missing = user, n, missing
		}
	}
	return found, errors.Join(failed...)
}

// ClaudeClient returns the user's program of Claude Code with its settings.
func ClaudeClient(a *app.App) claude.Client {
	program, _ := app.FindOnPath(a.Getenv, "claude")
	return claude.Client{Program: program, Environ: a.Environ, Getenv: a.Getenv, Home: a.Home}
}

// StatusLineFile returns the settings file with our status line, "" if there is none.
func StatusLineFile(repo *git.Repo) string {
	for _, path := range ClaudeFiles(repo.Root) {
		if _, _, ours, err := ClaudeSettings(repo, path).StatusLine(); err == nil && ours {
			return path
		}
	}
	return ""
}
