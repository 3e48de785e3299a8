package rewindcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// mostForks is the maximum number of forks that one command makes.
const mostForks = 20

// forking is one run of a command.
type forking struct {
	*app.App

	json bool
	repo *git.Repo
	w    *workspace.Workspace
}

// run returns the RunE of a command: it calls do for the worktree of the working directory.
func run(a *app.App, asJSON *bool, do func(ctx context.Context, w *forking, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		repo, err := a.Worktree()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, repo.Close()) }()
		w, log := a.LoggingWorkspace(repo, "fork")
		defer func() { _ = log.Close() }()
		return do(cmd.Context(), &forking{App: a, json: *asJSON, repo: repo, w: w}, args)
	}
}

type makeOptions struct {
	branch string
	number int
}

// NewForkCommand returns the command fork.
func NewForkCommand(a *app.App) *cobra.Command {
	var opts makeOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:        "fork [<moment> [<dir>]]",
		SuggestFor: []string{"branch", "worktree", "clone", "copy", "try"},
		Short:      "Create a second working tree of a moment",
		Long: `Creates a git worktree on a new branch with all files of a moment: uncommitted
changes, ignored files, installed dependencies. Two agents can then try the same
task, each in its own tree.

A moment is anything that ` + "`entire rewind`" + ` accepts (v12, last, "10 minutes ago", a
checkpoint), any commit, or now, the default. Without a snapshot of the moment, only
the tracked files of its commit are checked out.

The folder is created beside this one by default. The branch starts at the commit of
the moment, and nothing is staged. On Btrfs, XFS and APFS, files take no space until
they change. The settings in .entire are copied. The .git file of a submodule or of
a nested worktree is left out, since two trees would write the same index.

EXIT STATUS
  0    created
  1    failure, or some paths could not be written
  2    wrong usage
  130  interrupted; nothing is left behind`,
		Example: `  entire fork
  entire fork v12 ../app-other -b try/other
  entire fork last -n 3
  entire fork diff app-fork-1
  entire fork remove app-fork-1`,
		Args: cobra.MaximumNArgs(2),
		RunE: run(a, &asJSON, func(ctx context.Context, w *forking, args []string) error {
			return w.makeForks(ctx, opts, args)
		}),
	}
	cmd.Flags().StringVarP(&opts.branch, "branch", "b", "", "name of the new branch; fork-1, fork-2, ... by default")
	cmd.Flags().IntVarP(&opts.number, "number", "n", 1, "create this many forks of the same moment")
	setup.JSONFlag(cmd.PersistentFlags(), &asJSON)
	cmd.ValidArgsFunction = setup.Argument(a, 0, setup.Versions, setup.Checkpoints, setup.Branches)
	cmd.AddCommand(newList(a, &asJSON), newDiff(a, &asJSON), newRemove(a, &asJSON))
	return cmd
}

// madeJSON is the output of `fork --json`; docs/formats/fork.md describes it.
type madeJSON struct {
	Forks []oneMadeJSON `json:"forks"`
}

type oneMadeJSON struct {
	forkJSON

	Files   int                  `json:"files"`
	Severed []string             `json:"without_repository"`
	Unknown []string             `json:"not_held"`
	Failed  []format.FailureJSON `json:"failed"`
}

// makeForks makes one or more forks.
func (w *forking) makeForks(ctx context.Context, opts makeOptions, args []string) error {
	if opts.number < 1 || opts.number > mostForks {
		return app.Usagef("--number must be from 1 to %d", mostForks)
	}
	if slices.Contains(args, "") { // an empty variable of a script
		return app.Usagef("an argument is empty")
	}
	targets, err := w.targets(ctx, opts, args)
	if err != nil {
		return err
	}
	var m rewind.ForkMoment
	if len(args) > 0 && args[0] != "now" {
		m, err = rewind.FindForkMoment(ctx, w.w, args[0])
		if _, unknown := errors.AsType[*rewind.PointError](err); unknown || errors.Is(err, bands.ErrNoSnapshot) {
			err = app.WithHint(err, "`entire rewind --list` lists the points")
		}
	} else {
		err = w.explain(w.Streams.Sized("Reading the tree", func(reach func(string, ui.Amount)) (err error) {
			m, err = rewind.ForkMomentNow(ctx, w.w, format.ProgressOnly(reach))
			return err
		}))
	}
	if err != nil {
		return err
	}
	if m.Guessed {
		w.Streams.Notef("The commit of that moment isn't recorded: the branch starts at HEAD.")
	}
	var out madeJSON
	failed := false
	for _, t := range targets {
		began := w.Now()
		var made rewind.MadeFork
		err := w.Streams.Sized("Making "+w.ShortPath(t.dir), func(reach func(string, ui.Amount)) (err error) {
			made, err = rewind.MakeFork(ctx, w.w, m, t.dir, t.branch, format.Progress(reach))
			return err
		})
		if err != nil {
			return w.explain(err)
		}
		failed = failed || len(made.Failed) > 0
		out.Forks = append(out.Forks, oneMadeJSON{
			forkJSON: newForkJSON(made.Fork, false), Files: made.Files, Severed: format.NotNil(made.Severed),
			Unknown: format.NotNil(made.Unknown), Failed: format.NewFailuresJSON(made.Failed),
		})
		if !w.json {
			w.report(m, made, w.Now().Sub(began))
		}
	}
	if w.json {
		if err := w.Streams.JSON(out); err != nil {
			return err
		}
	} else {
		hint := "cd " + w.ShortPath(targets[0].dir)
		if m.Snapshot.Version != 0 { // `fork diff` compares with it
			hint += "; `entire fork diff` shows what changes there"
		}
		w.Streams.Hint(hint)
	}
	if failed {
		return app.ErrFailed
	}
	return nil
}

func (w *forking) explain(err error) error {
	switch {
	case errors.Is(err, tracking.ErrNoBands):
		return app.WithHint(errors.New("the current tree can't be copied: snapshots are off here"),
			"fork a commit, such as `entire fork HEAD`, or run `entire config bands.enabled true`")
	case errors.Is(err, rewind.ErrForkNoCommit):
		return app.WithHint(err, "commit something first: the fork's branch starts at a commit")
	case errors.Is(err, rewind.ErrForkExists):
		return app.WithHint(err, "name a folder that doesn't exist")
	}
	return err
}

// target is the folder and the branch of a new fork.
type target struct{ dir, branch string }

// targets returns the folders and branches of the forks. For names that are not given it chooses
// the first free ones.
func (w *forking) targets(ctx context.Context, opts makeOptions, args []string) ([]target, error) {
	root := w.repo.MainRoot()
	if root == "" {
		root = w.repo.Root
	}
	base, branchBase := root+"-fork", "fork"
	if len(args) > 1 {
		base = w.Absolute(args[1])
	}
	if opts.branch != "" {
		branchBase = opts.branch
	}
	if opts.number == 1 && len(args) > 1 && opts.branch != "" {
		return []target{{base, branchBase}}, nil
	}
	refs, err := git.ListRefs(ctx, w.repo, "refs/heads/")
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for _, ref := range refs {
		taken[strings.TrimPrefix(ref.Name, "refs/heads/")] = true
	}
	var list []target
	for n := 1; len(list) < opts.number; n++ {
		t := target{base + "-" + strconv.Itoa(n), branchBase + "-" + strconv.Itoa(n)}
		if opts.number == 1 && len(args) > 1 {
			t.dir = base
		}
		if opts.number == 1 && opts.branch != "" {
			t.branch = branchBase
		}
		if _, err := os.Lstat(t.dir); (err == nil && t.dir != base) || (taken[t.branch] && t.branch != opts.branch) {
			continue
		}
		list = append(list, t)
	}
	return list, nil
}

// report prints the result of making a fork.
func (w *forking) report(m rewind.ForkMoment, made rewind.MadeFork, took time.Duration) {
	of := made.Commit.Short()
	if m.Snapshot.Version != 0 {
		of = m.Snapshot.Version.String()
	}
	files := ""
	if made.Files > 0 {
		files = ui.Plural(made.Files, "file") + ", "
	}
	message := m.Message
	if message == "now" {
		message = ""
	}
	w.Streams.Printf("Forked %s%s to %s on branch %s (%s%s)\n", of, format.Quoted(message), w.ShortPath(made.Dir), made.Branch, files, format.Took(took))
	for _, path := range made.Severed {
		w.Streams.Notef("copied without its repository: %s", format.Path(path))
	}
	for _, path := range made.Unknown {
		w.Streams.Notef("not in the snapshot: %s", format.Path(path))
	}
	for _, failure := range made.Failed {
		w.Streams.Notef("not written: %s: %v", format.Path(failure.Path), failure.Err)
	}
	if m.Snapshot.Version == 0 {
		w.Streams.Notef("No snapshot of that moment: the fork lacks files that git ignores.")
	}
}

// forkNamed returns the fork that an argument names. Without an argument it is the fork of this
// worktree, else the only fork.
func (w *forking) forkNamed(args []string) (rewind.Fork, error) {
	if len(args) > 0 {
		f, err := rewind.FindFork(w.w, args[0], w.Dir)
		if errors.Is(err, rewind.ErrUnknownFork) {
			return f, app.WithHint(err, "`entire fork list` lists the forks")
		}
		return f, err
	}
	if f, ok := rewind.ForkHere(w.w); ok {
		return f, nil
	}
	list, err := rewind.ListForks(w.w)
	switch {
	case err != nil:
		return rewind.Fork{}, err
	case len(list) == 0:
		return rewind.Fork{}, app.WithHint(errors.New("no forks here"), "`entire fork` creates one")
	case len(list) > 1:
		return rewind.Fork{}, app.WithHint(fmt.Errorf("which of %d forks?", len(list)), "`entire fork list` lists them")
	}
	return list[0], nil
}
