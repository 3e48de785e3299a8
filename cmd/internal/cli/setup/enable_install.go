package setup

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/record"
)

// install installs everything. Every step may be repeated; the marker, which together with settings
// activates the hooks, is written after the hooks and settings.
func (e *enabling) install(ctx context.Context) error {
	project, err := OpenProject(e.repo)
	if err != nil {
		return err
	}
	if err := project.Ignore(e.opts.local); err != nil {
		return err
	}
	e.Streams.Printf("Agent: %s\n\n", labels(e.agents.chosen))
	for _, h := range e.agents.chosen {
		if err := e.installAgent(h); err != nil {
			return err
		}
	}
	report, err := GitHooks(ctx, e.repo, e.opts.force)
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
	// Report conditions that still prevent recording.
	w := e.WorkspaceOf(e.repo, e.is, slog.New(slog.DiscardHandler))
	if branch, err := record.BlockingBranch(ctx, w); err == nil && branch != "" {
		e.Streams.Notef("The branch %s is in the way of entire/checkpoints/v1: no commit will be linked.", branch)
		e.Streams.Hint(record.BlockingHint(branch))
	}
	if !app.OnPath(e.Getenv, "entire") {
		e.Streams.Notef("The program isn't on your PATH: until it is, the hooks do nothing.")
		e.Streams.Hint("add the folder of `entire` to PATH")
	}
	s := e.Settings(e.repo)
	if src := s.Source(settings.KeyEnabled); !s.Enabled {
		e.Streams.Notef("Recording is still disabled by %s.", strings.TrimSpace(fmt.Sprint(src.Layer, " ", src.Name)))
	}
	return nil
}

// relativeTo returns a path as the user would type it in root.
func relativeTo(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// writeSettings writes the settings that differ, and returns the file that enables the worktree.
func (e *enabling) writeSettings(p *Project) (string, error) {
	target := settings.LocalFile(e.repo.Root)
	isOff := func(f settings.File) bool { return f.Layer == settings.Local && !f.Enabled }
	if i := slices.IndexFunc(e.is.Files, isOff); i >= 0 && !e.opts.local {
		target = e.is.Files[i].Path // of the main worktree, if recording is disabled there
	}
	shared := slices.IndexFunc(e.is.Files, func(f settings.File) bool { return f.Layer != settings.User })
	switch {
	case e.opts.local:
	case e.opts.project, shared < 0:
		target = settings.ProjectFile(e.repo.Root)
	case e.is.Enabled && e.opts.strategy == "":
		return e.is.Files[shared].Path, nil
	}
	changes := []settings.Change{{Key: settings.KeyEnabled, Value: true}}
	if e.opts.strategy != "" || (!e.has(settings.Project) && e.is.Source(settings.KeyStrategy).Layer == settings.Default) {
		name := cmp.Or(e.opts.strategy, settings.ManualCommit)
		changes = append([]settings.Change{{Key: settings.KeyStrategy, Value: name}}, changes...)
	}
	if err := p.Set(target, changes...); err != nil {
		return "", err
	}
	// The strategy that the user named is in force even if it was written to a file that other
	// people can change.
	proposals := e.Settings(e.repo).Proposals
	if i := slices.IndexFunc(proposals, func(p settings.Proposal) bool {
		return p.Key == settings.KeyStrategy && p.Value == e.opts.strategy
	}); i >= 0 {
		if err := e.accept(proposals[i]); err != nil {
			return "", err
		}
	}
	for now := e.Settings(e.repo); !now.Enabled; now = e.Settings(e.repo) {
		i := slices.IndexFunc(now.Files, isOff)
		if i < 0 {
			break // disabled elsewhere, which is reported
		}
		if err := p.Set(now.Files[i].Path, settings.Change{Key: settings.KeyEnabled, Value: true}); err != nil {
			return target, err
		}
	}
	return target, nil
}
