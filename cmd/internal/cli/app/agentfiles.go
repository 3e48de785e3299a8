package app

import (
	"path/filepath"

	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// AgentSettings returns the settings file of an agent at path.
func AgentSettings(repo *git.Repo, a agent.Agent, path string) agenthook.Settings {
	return agenthook.Settings{Agent: a, Path: path, Backup: workspace.BackupDir(repo)}
}

// UserSettings returns the settings file of an agent for all projects of the user; false if there
// is no home directory.
func UserSettings(a *App, by agent.Agent) (agenthook.Settings, bool) {
	path, own := agenthook.UserFile(by, a.Getenv, a.Home), settings.UserFile(a.SettingsSources(nil))
	if path == "" || own == "" {
		return agenthook.Settings{}, false
	}
	return agenthook.Settings{Agent: by, Path: path, Backup: filepath.Join(filepath.Dir(own), "backup"), User: true}, true
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
func Maintained(a *App, repo *git.Repo, by agent.Agent) []agenthook.Settings {
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

// ClaudeClient returns the user's program of Claude Code with its settings.
func ClaudeClient(a *App) claude.Client {
	program, _ := FindOnPath(a.Getenv, "claude")
	return claude.Client{Program: program, Environ: a.Environ, Getenv: a.Getenv, Home: a.Home}
}

// Servers returns the list of MCP servers of an agent in a worktree; its Path is empty if the agent
// reads none from a project.
func Servers(repo *git.Repo, a agent.Agent, root string) agenthook.Servers {
	return agenthook.Servers{Agent: a, Path: agenthook.ServersFile(a, root), Backup: workspace.BackupDir(repo)}
}

// AllServers returns the lists of MCP servers of all agents in a worktree, existing or not.
func AllServers(repo *git.Repo, root string) []agenthook.Servers {
	var all []agenthook.Servers
	for _, a := range agent.All() {
		if s := Servers(repo, a, root); s.Path != "" {
			all = append(all, s)
		}
	}
	return all
}
