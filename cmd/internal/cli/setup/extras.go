package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/git"
)

// checkServer refuses an impossible --mcp before any question or change.
func (e *enabling) checkServer() error {
	if !e.opts.mcp {
		return nil
	}
	for _, s := range e.agents.servers(e.repo) {
		at, found, err := s.Server()
		if err != nil {
			return err
		}
		if found && !at.IsOurs() {
			return app.WithHint(fmt.Errorf("another MCP server is called %q in %s", claude.ServerName, relativeTo(e.repo.Root, s.Path)), "rename or remove it")
		}
	}
	if !e.agents.hasClaude() {
		return nil
	}
	at, err := CheckAsking(e.App, e.repo)
	switch {
	case err != nil:
		return err
	case at.Found && !at.Server.IsOurs():
		return app.WithHint(fmt.Errorf("another MCP server is called %q: %s", claude.ServerName, ui.Line(at.Server.Command, format.LineWidth)),
			"rename or remove it, with "+ShownCommand([]string{"mcp", "remove", claude.ServerName}))
	case e.shared, at.Found && at.Scope != claude.ProjectScope, app.OnPath(e.Getenv, ClaudeProgram):
		return nil
	}
	e.listed = true
	return nil
}

// installExtras applies the flags and answers about the MCP server and the status line.
func (e *enabling) installExtras(ctx context.Context, p *Project) error {
	switch {
	case e.opts.mcp:
		if e.agents.hasClaude() {
			if err := e.installServer(ctx, p); err != nil {
				return err
			}
		}
		for _, s := range e.agents.servers(e.repo) {
			if _, err := s.Install(); err != nil {
				return err
			}
			e.Streams.Printf("%s MCP server registered for %s (%s)\n", e.Streams.Paint(ui.Green, "✓"), s.Agent.Label, relativeTo(e.repo.Root, s.Path))
		}
	case e.opts.noMCP:
		if err := e.removeServer(ctx); err != nil {
			return err
		}
	}
	line := app.ClaudeSettings(e.repo, app.ClaudeFiles(e.repo.Root)[1])
	switch {
	case e.opts.line:
		if err := p.Exclude(PersonalSettings); err != nil {
			return err
		}
		if _, err := line.InstallStatusLine(); err != nil {
			return err
		}
		e.Streams.Printf("%s Status line installed (%s)\n", e.Streams.Paint(ui.Green, "✓"), relativeTo(e.repo.Root, line.Path))
	case e.opts.noLine:
		for _, path := range app.ClaudeFiles(e.repo.Root) {
			changed, err := app.ClaudeSettings(e.repo, path).RemoveStatusLine()
			if err != nil {
				return err
			}
			if changed {
				e.Streams.Printf("%s Status line removed (%s)\n", e.Streams.Paint(ui.Green, "✓"), relativeTo(e.repo.Root, path))
			}
		}
	}
	return nil
}

// installServer registers the server and then installs the hooks that ask it: without a server the
// hooks would cause an error at every clear.
func (e *enabling) installServer(ctx context.Context, p *Project) error {
	files := app.ClaudeFiles(e.repo.Root)
	here, there := files[1], files[0]
	if e.shared {
		here, there = there, here
	} else if err := p.Exclude(PersonalSettings); err != nil {
		return err
	}
	if e.shared || e.listed {
		if err := e.listServer(p); err != nil {
			return err
		}
	} else if err := RegisterServer(ctx, e.App, e.repo); err != nil {
		return err
	}
	if _, err := app.ClaudeSettings(e.repo, here).InstallAsking(); err != nil {
		return err
	}
	if _, err := app.ClaudeSettings(e.repo, there).RemoveAsking(); err != nil {
		return err
	}
	where := "with " + ClaudeLabel
	if e.shared || e.listed {
		where = "in " + relativeTo(e.repo.Root, ProjectServers(e.repo, e.repo.Root).Path)
	}
	e.Streams.Printf("%s MCP server registered %s; %s asks before /clear (%s)\n",
		e.Streams.Paint(ui.Green, "✓"), where, ClaudeLabel, relativeTo(e.repo.Root, here))
	if e.listed && !e.shared {
		e.Streams.Notef("The program `%s`, which registers servers for you alone, isn't on your PATH: %s asks at its next start whether the project's server may run.", ClaudeProgram, ClaudeLabel)
		e.Streams.Hint("accept it there; or with `" + ClaudeProgram + "` on the PATH run `entire enable --mcp` again to register it for you alone")
	}
	if e.shared {
		e.Streams.Notef("%s asks each person once whether the project's servers may run.", ClaudeLabel)
	}
	return nil
}

// listServer adds the server to the project's list. With --local git ignores a new one.
func (e *enabling) listServer(p *Project) error {
	list := ProjectServers(e.repo, e.repo.Root)
	if _, err := os.Lstat(list.Path); errors.Is(err, fs.ErrNotExist) && e.opts.local {
		if err := p.Exclude("/" + relativeTo(e.repo.Root, list.Path)); err != nil {
			return err
		}
	}
	_, err := list.Install()
	return err
}

// servers returns the lists of MCP servers of the chosen agents that have one, except Claude
// Code's.
func (s *agents) servers(repo *git.Repo) []agenthook.Servers {
	var lists []agenthook.Servers
	for _, h := range s.chosen {
		if s, ok := AgentServers(repo, h.Agent); ok && h.Agent.Name != ClaudeName {
			lists = append(lists, s)
		}
	}
	return lists
}

// removeServer removes the questions and the server from this worktree.
func (e *enabling) removeServer(ctx context.Context) error {
	for _, path := range app.ClaudeFiles(e.repo.Root) {
		changed, err := app.ClaudeSettings(e.repo, path).RemoveAsking()
		if err != nil {
			return err
		}
		if changed {
			e.Streams.Printf("%s %s no longer asks before /clear (%s)\n", e.Streams.Paint(ui.Green, "✓"), ClaudeLabel, relativeTo(e.repo.Root, path))
		}
	}
	return RemoveServer(ctx, e.App, e.repo, Removal{From: []string{e.repo.Root}, Roots: Worktrees(e.repo)})
}
