package rewindcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

func newRemove(a *app.App, asJSON *bool) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:     "remove <fork>...",
		Aliases: []string{"rm"},
		Short:   "Remove forks",
		Long: `Removes the folders of forks, named by folder or branch, and branches without commits
of their own. A fork with uncommitted changes or an open session is kept, unless
--force is given; then a snapshot is taken first, from which
` + "`entire fork vN`" + ` creates it again. Ignored files don't count as work.

EXIT STATUS
  0  removed
  1  failure, or a fork is kept because work would be lost
  2  wrong usage`,
		Example: "  entire fork remove app-fork-1\n  entire fork remove app-fork-1 app-fork-2 --force",
		Args:    cobra.MinimumNArgs(1),
		RunE: run(a, asJSON, func(ctx context.Context, w *forking, args []string) error {
			out := removedJSON{Removed: []oneRemovedJSON{}}
			for _, name := range args {
				f, err := w.forkNamed([]string{name})
				if err != nil {
					return err
				}
				done, err := w.removeFork(ctx, f, force)
				if err != nil {
					return err
				}
				one := oneRemovedJSON{Name: f.Name(), Dir: f.Dir, Kept: done.Kept}
				if done.Saved != 0 {
					one.Saved = done.Saved.String()
				}
				out.Removed = append(out.Removed, one)
				if w.json {
					continue
				}
				w.Streams.Printf("Removed %s\n", w.ShortPath(f.Dir))
				if one.Kept != "" {
					w.Streams.Notef("Kept the branch %s: it has commits.", one.Kept)
				}
				if one.Saved != "" {
					w.Streams.Hint("`entire fork " + one.Saved + "` recreates it, with its uncommitted files")
				}
			}
			if w.json {
				return w.Streams.JSON(out)
			}
			return nil
		}),
		ValidArgsFunction: completeForks(a, true),
	}
	cmd.Flags().BoolVarP(&force, "force", "f", false, "also remove uncommitted work, after a snapshot")
	return cmd
}

// removedJSON is the output of `fork remove --json`.
type removedJSON struct {
	Removed []oneRemovedJSON `json:"removed"`
}

type oneRemovedJSON struct {
	Name  string `json:"name"`
	Dir   string `json:"dir"`
	Saved string `json:"saved,omitempty"`
	Kept  string `json:"branch_kept,omitempty"`
}

func (w *forking) removeFork(ctx context.Context, f rewind.Fork, force bool) (rewind.RemovedFork, error) {
	if f.Maker.PID != 0 && !f.Unfinished(proc.Alive) {
		return rewind.RemovedFork{}, fmt.Errorf("%s is being created by process %d", f.Name(), f.Maker.PID)
	}
	if f.Dir == w.repo.Root {
		return rewind.RemovedFork{}, app.WithHint(fmt.Errorf("%s is the current worktree", f.Name()), "run it in "+w.ShortPath(f.From))
	}
	work, err := rewind.ReadForkWork(ctx, w.w, f)
	if err != nil && !force {
		return rewind.RemovedFork{}, err
	}
	refused := work
	if f.Unfinished(proc.Alive) {
		refused.Paths = nil // the fork is incomplete; a snapshot of its files is taken before
	}
	if refused.Kept() || force {
		var done rewind.RemovedFork
		err = w.Streams.Sized("Removing "+f.Name(), func(reach func(string, ui.Amount)) (err error) {
			done, err = rewind.RemoveFork(ctx, w.w, f, work, format.Progress(reach))
			return err
		})
		return done, err
	}
	// Name the work that would be lost.
	const most = 3
	var parts []string
	if n := len(refused.Paths); n > 0 {
		named := make([]string, 0, most+1)
		for _, path := range refused.Paths[:min(n, most)] {
			named = append(named, format.Path(path))
		}
		if n > most {
			named = append(named, fmt.Sprintf("%d more", n-most))
		}
		parts = append(parts, ui.Plural(n, "file")+" not committed ("+strings.Join(named, ", ")+")")
	}
	if refused.Detached && !refused.Branched {
		parts = append(parts, "no branch has its commit "+refused.Head.Short())
	}
	if n := len(refused.Sessions); n > 0 {
		parts = append(parts, ui.Plural(n, "session")+" open in it")
	}
	return rewind.RemovedFork{}, app.WithHint(fmt.Errorf("%s: %s", f.Name(), strings.Join(parts, "; ")), "commit it there, or use --force, which takes a snapshot first")
}
