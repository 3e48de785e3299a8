package setup

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/install"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/commits"
)

// install does the work. Every step may be done again; the marker, which
// together with settings puts the hooks to work, comes last.
func (e *enabling) install(ctx context.Context) error {
	project, err := install.OpenProject(e.repo)
	if err != nil {
		return err
	}
	if err := project.Ignore(e.opts.local); err != nil {
		return err
	}
	if err := e.installAgents(); err != nil {
		return err
	}
	report, err := install.GitHooks(ctx, e.repo, e.opts.force)
	if err != nil {
		return err
	}
	file, err := e.writeSettings(project)
	if err != nil {
		return err
	}
	if err := project.Mark(); err != nil {
		return err
	}
	if err := e.installBands(ctx, project); err != nil {
		return err
	}
	if err := e.installExtras(ctx, project); err != nil {
		return err
	}
	e.Streams.Printf("%s Project configured (%s)\n", e.Streams.Paint(ui.Green, "✓"), relativeTo(e.repo.Root, file))
	for _, line := range report {
		e.Streams.Notef("%s", line)
	}
	e.Streams.Printf("\nReady.\n")
	e.printNext(ctx)
	e.warn(ctx)
	return nil
}

// relativeTo returns a path as the user would type it at a worktree's root.
func relativeTo(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// writeSettings writes what isn't so already, and returns the file that says
// so.
func (e *enabling) writeSettings(p *install.Project) (string, error) {
	target, write := e.settingsFile()
	if !write {
		return target, nil
	}
	changes := []settings.Change{{Key: settings.KeyEnabled, Value: true}}
	if e.opts.strategy != "" || (!e.has(settings.Project) && e.is.Source(settings.KeyStrategy).Layer == settings.Default) {
		name := cmp.Or(e.opts.strategy, settings.ManualCommit)
		changes = append([]settings.Change{{Key: settings.KeyStrategy, Value: name}}, changes...)
	}
	if err := p.Set(target, changes...); err != nil {
		return "", err
	}
	if err := e.approveStrategy(); err != nil {
		return "", err
	}
	local := settings.LocalFile(e.repo.Root)
	if target == local || !e.has(settings.Local) || e.Settings(e.repo).Enabled {
		return target, nil
	}
	return target, p.Set(local, settings.Change{Key: settings.KeyEnabled, Value: true})
}

// approveStrategy makes the strategy that the user has named count also where
// it was written to a file that others can change.
func (e *enabling) approveStrategy() error {
	now := e.Settings(e.repo)
	for _, p := range now.Proposals {
		if p.Key == settings.KeyStrategy && p.Value == e.opts.strategy {
			return e.accept(p)
		}
	}
	return nil
}

// settingsFile is the file that says, or is to say, that the worktree is
// enabled, and whether it must be written.
func (e *enabling) settingsFile() (path string, write bool) {
	root := e.repo.Root
	none := true
	for _, f := range e.is.Files {
		none = none && f.Layer == settings.User
	}
	switch {
	case e.opts.local:
		return settings.LocalFile(root), true
	case e.opts.project, none:
		return settings.ProjectFile(root), true
	case e.is.Enabled && e.opts.strategy == "":
		for _, f := range e.is.Files {
			if f.Layer != settings.User {
				return f.Path, false
			}
		}
	}
	return settings.LocalFile(root), true
}

// warn describes what would keep recording from working all the same.
func (e *enabling) warn(ctx context.Context) {
	rec := e.Recorder(e.repo, e.is, slog.New(slog.DiscardHandler))
	if branch, err := rec.Commits().Preparer.Blocked(ctx); err == nil && branch != "" {
		e.Streams.Notef("The branch %s is in the way of entire/checkpoints/v1: no commit will be linked.", branch)
		e.Streams.Hint(commits.BlockedHint(branch))
	}
	if !app.OnPath(e.Getenv, "entire") {
		e.Streams.Notef("The program isn't on your PATH: until it is, the hooks do nothing.")
		e.Streams.Hint("add the folder of `entire` to PATH")
	}
	s := e.Settings(e.repo)
	if src := s.Source(settings.KeyEnabled); !s.Enabled {
		e.Streams.Notef("Recording is still disabled by %s.", strings.TrimSpace(fmt.Sprint(src.Layer, " ", src.Name)))
	}
}
