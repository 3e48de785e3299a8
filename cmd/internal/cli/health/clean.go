package health

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/cleanup"
)

type cleanOptions struct{ force, json bool }

// NewClean returns the command that removes orphaned records.
func NewClean(a *app.App) *cobra.Command {
	var opts cleanOptions
	pending, session := false, ""
	cmd := &cobra.Command{
		Use:        "clean",
		SuggestFor: []string{"prune", "gc", "tidy"},
		Short:      "Remove records that are no longer needed",
		Long: `Lists records that are no longer needed, in all worktrees: shadow branches and
states of finished sessions, refs of rewinds whose snapshot was deleted, auto-commit
checkpoints that no commit names, old copies of transcripts, and temporary files.
With --force it deletes them. Sessions with uncommitted work, points to rewind to,
and checkpoints of your own commits are kept.

EXIT STATUS
  0    done, or nothing to do
  1    failure, or some items could not be deleted
  2    wrong usage
  130  interrupted`,
		Example: `  entire clean
  entire clean --force
  entire clean --pending`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch dryRun := cmd.Flags().Changed("dry-run"); {
			case pending && dryRun:
				return app.Usagef("--pending and --dry-run can't be combined")
			case cmd.Flags().Changed("session") && !pending:
				return app.Usagef("--session needs --pending")
			case cmd.Flags().Changed("session") && session == "": // an empty variable must not select all
				return app.Usagef("--session needs an id")
			case pending:
				return runReset(cmd.Context(), a, resetOptions{force: opts.force, json: opts.json, session: session})
			}
			return runClean(cmd.Context(), a, opts)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&pending, "pending", false, "discard what sessions recorded since the last commit")
	f.StringVar(&session, "session", "", "with --pending: only the session with this id, or prefix of one")
	setup.Flag(cmd, "session", setup.FlagValue(a, setup.Sessions))
	f.BoolP("dry-run", "n", false, "only list them (the default)")
	f.BoolVarP(&opts.force, "force", "f", false, "delete them")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "force")
	setup.JSONFlags(a, f, &opts.json)
	return cmd
}

func runClean(ctx context.Context, a *app.App, opts cleanOptions) (err error) {
	repo, err := a.Worktree()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	cleaner := cleanup.New(a.Workspace(repo))
	items, err := cleaner.Find(ctx)
	if err != nil {
		return err
	}
	w, none := a.Streams, []orphanJSON{}
	switch {
	case opts.force && len(items) > 0:
	case opts.json:
		return w.JSONOf(cleanJSON{Items: newOrphansJSON(repo, items), Kept: none, Failed: none}, "items")
	case len(items) == 0:
		w.Printf("No orphaned items to clean up.\n")
		return nil
	default:
		a.PageText(func(w ui.Streams) {
			w.Printf("Found %s:\n", orphans(len(items)))
			printOrphans(w, repo, items)
			w.Printf("\nRun with --force to delete these items.\n")
		})
		return nil
	}
	var done cleanup.Removal
	failure := w.Count("Cleaning", func(tick func(done, total int64)) (err error) {
		cleaner.Progress = tick
		done, err = cleaner.Remove(ctx, items)
		return err
	})
	if failure != nil && len(done.Failed) == 0 {
		return failure
	}
	if opts.json {
		j := cleanJSON{
			Deleted: true, Items: newOrphansJSON(repo, done.Removed),
			Kept: newOrphansJSON(repo, done.Kept), Failed: newOrphansJSON(repo, done.Failed),
		}
		if failure != nil {
			j.Error = failure.Error()
			return errors.Join(w.JSONOf(j, "items"), app.ErrFailed)
		}
		return w.JSONOf(j, "items")
	}
	if len(done.Removed) > 0 {
		w.Printf("Deleted %s:\n", orphans(len(done.Removed)))
		printOrphans(w, repo, done.Removed)
	} else {
		w.Printf("Nothing was deleted.\n")
	}
	for _, i := range done.Kept {
		w.Notef("Kept, needed again: %s", ui.Line(orphanName(repo, i), format.MaxNameWidth))
	}
	for _, i := range done.Failed {
		w.Notef("Not deleted: %s", ui.Line(orphanName(repo, i), format.MaxNameWidth))
	}
	return failure
}

// cleanJSON is the output of `clean --json`; docs/formats/clean.md describes
// it.
type cleanJSON struct {
	Deleted bool         `json:"deleted"`
	Items   []orphanJSON `json:"items"`
	Kept    []orphanJSON `json:"kept"`
	Failed  []orphanJSON `json:"failed"`
	Error   string       `json:"error,omitempty"`
}

type orphanJSON struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	Why  string `json:"why"`
}

func newOrphansJSON(repo *git.Repo, items []cleanup.Item) []orphanJSON {
	list := make([]orphanJSON, 0, len(items))
	for _, i := range items {
		list = append(list, orphanJSON{Kind: string(i.Kind), Name: orphanName(repo, i), Why: i.Why})
	}
	return list
}

// orphanName returns the path of a file relative to the git directory or the worktree, and the name
// of any other item.
func orphanName(repo *git.Repo, i cleanup.Item) string {
	for _, dir := range []string{repo.CommonDir, repo.Root} {
		if rest, inside := strings.CutPrefix(i.Name, dir+"/"); inside {
			return rest
		}
	}
	return i.Name
}

// orphans counts items in the words that scripts look for, which are plural for 1, too.
func orphans(n int) string { return fmt.Sprintf("%d orphaned items", n) }

// printOrphans prints items grouped by their kind, with the reason why each may be removed.
func printOrphans(w ui.Streams, repo *git.Repo, items []cleanup.Item) {
	for _, group := range []struct {
		kind  cleanup.Kind
		title string
	}{
		{cleanup.Shadow, "Shadow branches"},
		{cleanup.Rescue, "Refs of rewinds"},
		{cleanup.State, "Session states"},
		{cleanup.Checkpoint, "Checkpoints"},
		{cleanup.Transcript, "Copies of transcripts"},
		{cleanup.Leftover, "Leftover files"},
	} {
		var table ui.Table
		n := 0
		for _, i := range items {
			if i.Kind == group.kind {
				table.AddRow("  "+ui.Line(orphanName(repo, i), format.MaxNameWidth), w.Paint(ui.Dim, i.Why))
				n++
			}
		}
		if n > 0 {
			w.Printf("\n%s (%d)\n%s", w.Paint(ui.Bold, group.title), n, table.String())
		}
	}
}
