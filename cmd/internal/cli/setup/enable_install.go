package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/tracking"
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
	imported := e.importPast(ctx)
	if imported != nil && ctx.Err() != nil {
		return imported
	}
	e.Streams.Printf("\nReady.\n")
	e.printNext(ctx)
	// Report conditions that still prevent recording.
	w := e.WorkspaceOf(e.repo, e.is, slog.New(slog.DiscardHandler))
	if branch, err := record.BlockingBranch(ctx, w); err == nil && branch != "" {
		e.Streams.Notef("The branch %s blocks entire/checkpoints/v1: no commit will be linked.", branch)
		e.Streams.Hint(record.BlockingHint(branch))
	}
	if !app.OnPath(e.Getenv, "entire") {
		e.Streams.Notef("`entire` isn't on your PATH: until it is, the hooks do nothing.")
		e.Streams.Hint("add its folder to PATH")
	}
	s := e.Settings(e.repo)
	if src := s.Source(settings.KeyEnabled); s.Activation.Reason == settings.Excluded {
		e.Streams.Notef("This repository is still not recorded: it is %s, in %s.", s.Activation.Text(), e.ShortPath(settings.UserFile(e.SettingsSources(nil))))
		e.Streams.Hint("run `entire enable --local` to record this clone anyway")
	} else if !s.Enabled {
		e.Streams.Notef("Recording is still disabled by %s.", strings.TrimSpace(fmt.Sprint(src.Layer, " ", src.Name)))
	}
	return imported
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
	shared := slices.IndexFunc(e.is.Files, func(f settings.File) bool {
		return f.Layer != settings.User && f.Layer != settings.Clone
	})
	switch {
	case e.opts.local:
	case e.opts.project, shared < 0:
		target = settings.ProjectFile(e.repo.Root)
	case e.is.Enabled && e.opts.strategy == "":
		return e.is.Files[shared].Path, nil
	}
	if i := slices.IndexFunc(e.is.Files, func(f settings.File) bool { return f.Layer == settings.Clone && !f.Enabled }); i >= 0 {
		if _, err := settings.EditClone(e.repo.CommonDir, settings.Change{Key: settings.KeyEnabled}); err != nil {
			return "", err
		}
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

// installBands creates the repository's store and takes the first snapshot of this worktree, unless
// it has one. If snapshots are impossible, it prints a note; the rest is installed all the same.
func (e *enabling) installBands(ctx context.Context, p *Project) error {
	if e.opts.noBands {
		return p.Set(settings.LocalFile(e.repo.Root), settings.Change{Key: settings.KeyBands, Value: false})
	}
	if !e.Settings(e.repo).Bands.Enabled {
		return nil
	}
	w := e.Workspace(e.repo)
	store, err := tracking.MakeStore(ctx, w)
	found := false
	if err == nil {
		_, found, err = store.Lineage(tracking.Lineage(w)).Latest()
	}
	var taken capture.Taken
	if err == nil && !found {
		err = e.Streams.Sized("Taking the first snapshot", func(reach func(string, ui.Amount)) (err error) {
			taken, err = tracking.TakeFirstSnapshot(ctx, w, store, format.ProgressOnly(reach))
			return err
		})
		if err != nil {
			err = fmt.Errorf("first snapshot: %w", err)
		}
	}
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		e.Streams.Notef("No snapshots of the working tree: %v", err)
		if errors.Is(err, bands.ErrRefusedRoot) {
			e.Streams.Hint("a home directory is too large for snapshots; `entire enable --no-bands` leaves them out")
		}
	case taken.Snapshot.Version != 0 && !taken.Unchanged:
		e.Streams.Printf("First snapshot: %s, %s, %s\n", taken.Snapshot.Version,
			ui.Plural(int(taken.Snapshot.Totals.Files), "file"), format.Size(taken.Snapshot.Totals.Bytes))
	}
	return nil
}

// printNext prints the next steps: commit the files that others need to record, too, and start the
// agent.
func (e *enabling) printNext(ctx context.Context) {
	var table ui.Table
	paths := slices.Grow([]string{".entire", ".claude"}, 2*len(e.agents.all))
	for _, s := range app.AllServers(e.repo, e.repo.Root) {
		paths = append(paths, relativeTo(e.repo.Root, s.Path))
	}
	for _, h := range e.agents.all {
		paths = append(paths, relativeTo(e.repo.Root, agenthook.Files(h.Agent, e.repo.Root)[0]))
	}
	entries, _ := git.Status(ctx, e.repo, paths...) // git reports an error when the user commits
	var names []string
	for _, entry := range entries {
		name := path.Clean(entry.Path)
		if top, _, _ := strings.Cut(name, "/"); top != ".github" { // it has other files than ours
			name = top
		}
		if e.Dir != e.repo.Root {
			name = ":/" + name
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) > 0 {
		table.AddRow("  git add "+strings.Join(names, " "), "commit them, for everybody here")
	}
	table.AddRow("  "+e.agents.chosen[0].Agent.Program, "work and commit as usual")
	if e.agents.hasClaude() && !e.asked && !e.opts.mcp && !e.opts.noMCP && app.OnPath(e.Getenv, ClaudeProgram) {
		if at, err := CheckQuestions(e.repo); err == nil && at.Installed == 0 {
			table.AddRow("  entire enable --mcp", "be asked before /clear")
		}
	}
	table.AddRow("  entire status", "see what is recorded")
	if e.Settings(e.repo).Bands.Enabled {
		table.AddRow("  entire rewind", "go back to before any turn")
	}
	e.Streams.Printf("\nNext:\n%s", e.Streams.Table(&table))
}
