package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// claudeProgram is the agent's own program.
const claudeProgram = "claude"

// asking is where the questions at a clear stand in a worktree: the hooks that
// hand them to our MCP server, and that server.
type asking struct {
	// File holds most of the hooks, Installed of them; All says that none is
	// missing.
	File      string
	Installed int
	All       bool
	// Server is the one that is called as ours is, in Scope; Found says that
	// there is one.
	Server claude.Server
	Scope  claude.Scope
	Found  bool
}

// checkAsking looks at both.
func (a *app) checkAsking(repo *git.Repo) (asking, error) {
	at, err := checkQuestions(repo)
	if err != nil {
		return at, err
	}
	at.Server, at.Scope, at.Found, err = a.findServer(repo)
	return at, err
}

// checkQuestions looks at the hooks alone.
func checkQuestions(repo *git.Repo) (asking, error) {
	var at asking
	files := claudeFiles(repo.Root)
	failed := make([]error, 0, len(files))
	for _, path := range files {
		n, all, err := claudeSettings(repo, path).Asking()
		if n > at.Installed {
			at.File, at.Installed = path, n
		}
		at.All = at.All || all
		failed = append(failed, err)
	}
	return at, errors.Join(failed...)
}

func projectServers(repo *git.Repo, root string) claude.ProjectServers {
	return claude.ProjectServers{Path: claude.ServersFile(root), Backup: backupDir(repo.CommonDir)}
}

// findServer finds the server that the agent starts in the repository's
// worktree: the person's own comes before the project's.
func (a *app) findServer(repo *git.Repo) (claude.Server, claude.Scope, bool, error) {
	s, scope, found, err := a.claude().Server(claudeProjects(repo)...)
	if err != nil || found && scope == claude.LocalScope {
		return s, scope, found, err
	}
	shared, ok, err := projectServers(repo, repo.Root).Server()
	if err != nil || ok {
		return shared, claude.ProjectScope, ok, err
	}
	return s, scope, found, nil
}

// claudeProjects are the folders that may stand for the repository where the
// agent keeps what a person said of a project: of a linked worktree that is the
// main one, or the repository itself.
func claudeProjects(repo *git.Repo) []string {
	if repo.WorktreeID == "" {
		return []string{repo.Root}
	}
	return []string{repo.MainRoot(), repo.CommonDir, repo.Root}
}

// typed is a command line of the agent's program, for a person to type.
func typed(args []string) string { return "`" + claudeProgram + " " + strings.Join(args, " ") + "`" }

// checkServer refuses what can't be done before anything is asked or written.
func (e *enabling) checkServer() error {
	if !e.opts.mcp {
		return nil
	}
	at, err := e.checkAsking(e.repo)
	switch {
	case err != nil:
		return err
	case at.Found && !at.Server.Ours():
		return hinted(fmt.Errorf("another MCP server is called %q: %s", claude.ServerName, ui.Line(at.Server.Command, lineWidth)),
			"rename it or take it out, with "+typed([]string{"mcp", "remove", claude.ServerName}))
	case e.shared, at.Found && at.Scope != claude.ProjectScope, onPath(e.Getenv, claudeProgram):
		return nil
	}
	return hinted(errors.New("the program `claude`, which registers MCP servers, isn't on your PATH"),
		"add its folder to PATH, or use --project: the server goes to .mcp.json then, for everybody")
}

// installExtras does what the flags and answers say of the MCP server and the
// status line.
func (e *enabling) installExtras(ctx context.Context, p *project) error {
	switch {
	case e.opts.mcp:
		if err := e.installServer(ctx, p); err != nil {
			return err
		}
	case e.opts.noMCP:
		if err := e.removeServer(ctx); err != nil {
			return err
		}
	}
	line := claudeSettings(e.repo, claudeFiles(e.repo.Root)[1])
	switch {
	case e.opts.line:
		if err := p.exclude(personalSettings); err != nil {
			return err
		}
		if _, err := line.InstallStatusLine(); err != nil {
			return err
		}
		e.Streams.Printf("%s Status line installed (%s)\n", e.Streams.Paint(ui.Green, "✓"), e.relative(line.Path))
	case e.opts.noLine:
		for _, path := range claudeFiles(e.repo.Root) {
			changed, err := claudeSettings(e.repo, path).RemoveStatusLine()
			if err != nil {
				return err
			}
			if changed {
				e.Streams.Printf("%s Status line removed (%s)\n", e.Streams.Paint(ui.Green, "✓"), e.relative(path))
			}
		}
	}
	return nil
}

// installServer registers the server and then lets the agent ask: hooks without
// a server would be an error at every clear.
func (e *enabling) installServer(ctx context.Context, p *project) error {
	files := claudeFiles(e.repo.Root)
	here, there := files[1], files[0]
	if e.shared {
		here, there = there, here
		if _, err := projectServers(e.repo, e.repo.Root).Install(); err != nil {
			return err
		}
	} else {
		if err := e.registerServer(ctx, e.repo); err != nil {
			return err
		}
		if err := p.exclude(personalSettings); err != nil {
			return err
		}
	}
	if _, err := claudeSettings(e.repo, here).InstallAsking(); err != nil {
		return err
	}
	if _, err := claudeSettings(e.repo, there).RemoveAsking(); err != nil {
		return err
	}
	where := "with " + claudeLabel
	if e.shared {
		where = "in " + e.relative(claude.ServersFile(e.repo.Root))
	}
	e.Streams.Printf("%s MCP server registered %s; %s asks before /clear (%s)\n",
		e.Streams.Paint(ui.Green, "✓"), where, claudeLabel, e.relative(here))
	if e.shared {
		e.Streams.Notef("%s asks each person once whether the project's servers may run.", claudeLabel)
	}
	return nil
}

// registerServer tells the agent of the server, unless it knows.
func (a *app) registerServer(ctx context.Context, repo *git.Repo) error {
	if _, scope, found, err := a.claude().Server(claudeProjects(repo)...); err == nil && found {
		return nil // or everywhere, which does
	} else if err != nil {
		return fmt.Errorf("%s: %w", scope, err)
	}
	err := a.claude().Register(ctx, repo.Root)
	if _, _, found, looked := a.claude().Server(claudeProjects(repo)...); err != nil && (looked != nil || !found) {
		return hinted(fmt.Errorf("register the MCP server: %w", err), "run "+typed(claude.RegisterArgs())+" in "+repo.Root+", and the command again")
	}
	return nil
}

// removeServer takes the questions and the server away from this worktree.
func (e *enabling) removeServer(ctx context.Context) error {
	for _, path := range claudeFiles(e.repo.Root) {
		changed, err := claudeSettings(e.repo, path).RemoveAsking()
		if err != nil {
			return err
		}
		if changed {
			e.Streams.Printf("%s %s asks no more before /clear (%s)\n", e.Streams.Paint(ui.Green, "✓"), claudeLabel, e.relative(path))
		}
	}
	roots, err := worktrees(ctx, e.repo)
	if err != nil {
		return err
	}
	return e.dropServer(ctx, e.repo, dropping{from: []string{e.repo.Root}, roots: roots})
}

// removeServer takes the server away from worktrees that lose their hooks.
func (u *uninstalling) removeServer(ctx context.Context, roots ...string) error {
	return u.dropServer(ctx, u.repo, dropping{from: roots, roots: u.roots})
}

// dropping is which worktrees need the server no more, of which.
type dropping struct{ from, roots []string }

// dropServer takes the server out of the list of these worktrees' projects, and
// out of the person's own if no other worktree asks.
func (a *app) dropServer(ctx context.Context, repo *git.Repo, which dropping) error {
	for _, root := range which.from {
		if err := a.dropShared(repo, root); err != nil {
			return err
		}
	}
	for _, root := range which.roots {
		if slices.Contains(which.from, root) {
			continue
		}
		for _, path := range claudeFiles(root) {
			if n, _, err := claudeSettings(repo, path).Asking(); err != nil || n > 0 {
				return nil //nolint:nilerr // what can't be read may ask
			}
		}
	}
	s, scope, found, err := a.claude().Server(claudeProjects(repo)...)
	if err == nil && (!found || scope != claude.LocalScope || !s.Ours()) {
		return nil
	}
	if err == nil {
		err = a.claude().Unregister(ctx, repo.Root)
	}
	if err != nil {
		a.Streams.Notef("The MCP server is still registered with %s: %v", claudeLabel, err)
		a.Streams.Hint("run " + typed(claude.UnregisterArgs()) + " in " + repo.Root)
		return nil
	}
	a.Streams.Printf("%s Removed the MCP server\n", a.Streams.Paint(ui.Green, "✓"))
	return nil
}

// dropShared takes the server out of the list of a worktree's project.
func (a *app) dropShared(repo *git.Repo, root string) error {
	changed, err := projectServers(repo, root).Uninstall()
	if changed {
		a.Streams.Printf("%s Removed the MCP server (%s)\n", a.Streams.Paint(ui.Green, "✓"), claude.ServersFile(root))
	}
	if _, unreadable := errors.AsType[*claude.SettingsError](err); unreadable {
		a.Streams.Notef("%v", err) // it need not be ours
		return nil
	}
	return err
}

// takeOut removes all of ours from the agent's settings; again, which is to be
// called when the hooks are back, puts the questions and the status line back
// that were there.
func takeOut(s claude.Settings) (again func(failed *error), err error) {
	n, _, err := s.Asking()
	if err != nil {
		return nil, err
	}
	_, _, line, err := s.StatusLine()
	if err != nil {
		return nil, err
	}
	again = func(failed *error) {
		var asked, lined error
		if n > 0 {
			_, asked = s.InstallAsking()
		}
		if line {
			_, lined = s.InstallStatusLine()
		}
		*failed = errors.Join(*failed, asked, lined)
	}
	_, err = s.Uninstall()
	return again, err
}
