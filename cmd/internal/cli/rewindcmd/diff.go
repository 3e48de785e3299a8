package rewindcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

func newDiff(a *app.App, asJSON *bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff [<fork>] [-- <path>...]",
		Short: "Show what changed in a fork",
		Long: `Lists the files of a fork that changed since it was created, committed or not, ignored
or not. With paths after -- it prints their changes line by line. The default is the
fork of the working directory, or the only one.`,
		Example: "  entire fork diff app-fork-1\n  entire fork diff app-fork-1 -- src/auth.ts",
		RunE: func(cmd *cobra.Command, args []string) error {
			var paths []string
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				args, paths = args[:at], args[at:]
			}
			if len(args) > 1 {
				return app.Usagef("at most one fork, not %d; put paths after --", len(args))
			}
			return run(a, asJSON, func(ctx context.Context, w *forking, args []string) error {
				return w.diff(ctx, args, paths)
			})(cmd, args)
		},
		ValidArgsFunction: completeForks(a, false),
	}
	setup.JSONLinesFlag(a, cmd.Flags(), asJSON)
	return cmd
}

// diffJSON is the output of `fork diff --json`.
type diffJSON struct {
	Fork    forkJSON          `json:"fork"`
	Changes []format.DiffJSON `json:"changes"`
}

func (w *forking) diff(ctx context.Context, args, typed []string) error {
	f, err := w.forkNamed(args)
	if err != nil {
		return err
	}
	paths, err := app.TreePaths(f.Dir, f.Dir, typed)
	if err != nil {
		return err
	}
	var changes *rewind.ForkChanges
	err = w.Streams.Sized("Comparing", func(reach func(string, ui.Amount)) (err error) {
		changes, err = rewind.CompareFork(ctx, w.w, f, format.ProgressOnly(reach))
		return err
	})
	if errors.Is(err, bands.ErrNoSnapshot) {
		return app.WithHint(fmt.Errorf("no snapshot of the start of %s", f.Name()),
			fmt.Sprintf("`git -C %s diff %s` shows the differences of tracked files", w.ShortPath(f.Dir), f.Commit.Short()))
	}
	if err != nil {
		return err
	}
	defer func() { _ = changes.Close() }()
	if missing := diff.Unmatched(paths, changes.Old, changes.Now); len(missing) > 0 {
		return app.Unmatched(missing, f.Snapshot.String(), "the fork")
	}
	o := diff.Options{Paths: paths}
	if len(paths) > 0 && !w.json {
		return w.PageOutput(func(s ui.Streams) error {
			return s.ShowPatch(func(out io.Writer) error {
				unread, err := diff.Unified(ctx, out, changes.Old, changes.Now, o)
				w.noteUnread(unread)
				return err
			})
		})
	}
	files, err := diff.Stat(ctx, changes.Old, changes.Now, o)
	if err != nil {
		return err
	}
	var unread []string
	files = slices.DeleteFunc(files, func(d diff.File) bool {
		if d.Unread {
			unread = append(unread, d.Path)
		}
		return d.Unread || d.Path == ".git"
	})
	if w.json {
		return w.Streams.JSONOf(diffJSON{Fork: newForkJSON(f, false), Changes: format.NewDiffJSON(files)}, "changes")
	}
	w.PageText(func(s ui.Streams) { format.Diff(s, files) })
	w.noteUnread(unread)
	return nil
}

func (w *forking) noteUnread(paths []string) {
	for _, path := range paths {
		w.Streams.Notef("can't be compared, it changed meanwhile: %s", format.Path(path))
	}
}

// completeForks completes the name of one fork, or of several.
func completeForks(a *app.App, several bool) cobra.CompletionFunc {
	forks := func(_ context.Context, a *app.App, repo *git.Repo) ([]cobra.Completion, error) {
		list, err := rewind.ListForks(a.Workspace(repo))
		found := make([]cobra.Completion, len(list))
		for i := range list {
			found[i] = cobra.CompletionWithDesc(list[i].Name(), list[i].Branch)
		}
		return found, err
	}
	if several {
		return setup.Arguments(a, forks)
	}
	return setup.Argument(a, 0, forks)
}
