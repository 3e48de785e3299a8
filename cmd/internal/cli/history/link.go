package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/sharing"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

type linkOptions struct{ force, json, find, write, push, remove bool }

// linkExitStatus is the end of the help of link and unlink.
const linkExitStatus = `

EXIT STATUS
  0  done
  1  failure, or the commit can't be changed for one of these reasons
  2  wrong usage`

// NewUnlink returns the command that removes the links of the last commit.
func NewUnlink(a *app.App) *cobra.Command {
	var opts linkOptions
	cmd := &cobra.Command{
		Use:        "unlink [<commit>]",
		SuggestFor: []string{"detach"},
		Short:      "Remove the last commit's link to its session",
		Long: `Amends the last commit: removes the Entire-Checkpoint trailers from its message, and
changes nothing else. Staged changes stay staged. The conversation stays recorded:
` + "`entire link`" + ` links the commit again, ` + "`entire forget`" + `
removes a record.

It refuses for a commit that is not the last, that a remote has, or during a rebase or
merge. To prevent a link, delete the trailer in the editor, or write
"Entire-Checkpoint: none" in the message.` + linkExitStatus,
		Example: `  entire unlink
  entire unlink HEAD --force`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rev := "HEAD"
			if len(args) > 0 {
				rev = args[0]
			}
			return runUnlink(cmd.Context(), a, opts, rev)
		},
	}
	addLinkFlags(cmd, &opts)
	return cmd
}

func runUnlink(ctx context.Context, a *app.App, opts linkOptions, rev string) error {
	return runRelink(ctx, a, opts, "Unlinked", rev, func(ctx context.Context, w *workspace.Workspace, _ *git.Repo) (record.Relinked, error) {
		return record.Unlink(ctx, w, rev, opts.force)
	})
}

// NewLink returns the command that links the last commit to a session.
func NewLink(a *app.App) *cobra.Command {
	var opts linkOptions
	cmd := &cobra.Command{
		Use:        "link <commit> <session>",
		SuggestFor: []string{"attach"},
		Short:      "Link the last commit to a session",
		Long: `Amends the last commit: adds an Entire-Checkpoint trailer to its message, and changes
nothing else. Staged changes stay staged. If the commit was linked before, it gets the
same checkpoint, or else a new one of the session.

It refuses for a commit that is not the last, that a remote has, or during a rebase or
merge.

With --find it lists commits without a link that were made where no git hook ran, and
contain a session's work: those of the range, or of this branch that no remote has.
An example is a commit that a server squashed.

With --write it links them, without amending, in git notes, which
` + "`git log --notes=entire`" + ` shows. With --push it fetches the remote's checkpoints
first, and pushes the links. See docs/guides/ci.md for jobs that do this.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if opts.find || opts.remove {
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return cobra.ExactArgs(2)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case opts.push && !opts.write:
				return app.Usagef("--push needs --write")
			case opts.write && !opts.find:
				return app.Usagef("--write needs --find")
			case opts.find:
				return runFind(cmd.Context(), a, opts, args)
			case opts.remove:
				return runUnlink(cmd.Context(), a, opts, cmp.Or(strings.Join(args, ""), "HEAD"))
			}
			rev, prefix := args[0], args[1]
			return runRelink(cmd.Context(), a, opts, "Linked", rev, func(ctx context.Context, w *workspace.Workspace, repo *git.Repo) (record.Relinked, error) {
				found, err := a.Sessions(repo).Find(ctx, prefix)
				switch {
				case err != nil:
					return record.Relinked{}, err
				case len(found) == 0:
					return record.Relinked{}, app.WithHint(fmt.Errorf("no session %s", ui.Line(prefix, format.NameWidth)), "`entire log --sessions` lists them; ids may be shortened to 4 characters")
				case len(found) > 1 && found[0].ID != prefix:
					return record.Relinked{}, ambiguousSession(prefix, found)
				}
				return record.Link(ctx, w, rev, found[0], opts.force)
			})
		},
	}
	addLinkFlags(cmd, &opts)
	setup.JSONLinesFlag(a, cmd.Flags(), &opts.json)
	cmd.Flags().BoolVar(&opts.remove, "remove", false, "remove the link of the last commit")
	cmd.Flags().BoolVar(&opts.find, "find", false, "list commits made without git hooks, and their sessions")
	cmd.Flags().BoolVar(&opts.write, "write", false, "with --find: link them, in git notes")
	cmd.Flags().BoolVar(&opts.push, "push", false, "with --write: fetch the remote's checkpoints first, and push the links")
	cmd.MarkFlagsMutuallyExclusive("remove", "find")
	cmd.ValidArgsFunction = setup.Argument(a, 1, setup.Sessions)
	return cmd
}

func addLinkFlags(cmd *cobra.Command, opts *linkOptions) {
	cmd.Flags().BoolVarP(&opts.force, "force", "f", false, "even if a remote has the commit; the next push must be forced")
	setup.JSONFlag(cmd.Flags(), &opts.json)
}

// relinkedJSON is the output of `link --json` and `unlink --json`; docs/formats/sessions.md
// describes it.
type relinkedJSON struct {
	Commit      git.OID         `json:"commit"`
	Former      git.OID         `json:"former"`
	Checkpoints []checkpoint.ID `json:"checkpoints"`
}

func runRelink(ctx context.Context, a *app.App, opts linkOptions, verb, rev string, do func(context.Context, *workspace.Workspace, *git.Repo) (record.Relinked, error)) (err error) {
	repo, err := a.Worktree()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	w, log := a.LoggingWorkspace(repo, "link")
	defer func() { _ = log.Close() }()
	done, err := do(ctx, w, repo)
	switch {
	case errors.Is(err, git.ErrMissing):
		return fmt.Errorf("no commit %s", ui.Line(rev, format.NameWidth))
	case errors.Is(err, record.ErrNotLast):
		return app.WithHint(err, "use `git rebase -i` and reword to delete the trailer of an older commit")
	case errors.Is(err, record.ErrPushed):
		return app.WithHint(err, "--force amends it anyway; the next push must be forced")
	case errors.Is(err, record.ErrInProgress):
		return app.WithHint(err, "finish it first: see `git status`")
	case errors.Is(err, record.ErrImported):
		return app.WithHint(err, "`entire import --share` shares it")
	case errors.Is(err, record.ErrNotAdded):
		return app.WithHint(err, "`entire status` shows why")
	case err != nil:
		return err
	}
	if opts.json {
		return a.Streams.JSON(relinkedJSON{Commit: done.Commit.OID, Former: done.Former.OID, Checkpoints: done.IDs})
	}
	a.Streams.Printf("%s %s%s, now %s (%s)\n", verb, done.Former.OID.Short(), format.Quoted(plain.FirstLine(done.Former.Message)), done.Commit.OID.Short(), namesOf(done.IDs))
	return nil
}

// foundListJSON is the output of `link --find --json`; docs/formats/sessions.md describes it.
type foundListJSON struct {
	Found []foundJSON `json:"found"`
}

type foundJSON struct {
	Commit      git.OID         `json:"commit"`
	Checkpoints []checkpoint.ID `json:"checkpoints"`
	Sessions    []string        `json:"sessions"`
	Lines       []foundLines    `json:"lines,omitempty"`
	Derived     bool            `json:"derived"`
	Written     bool            `json:"written"`
}

// foundLines is the number of a commit's lines that a checkpoint has.
type foundLines struct {
	Checkpoint checkpoint.ID `json:"checkpoint"`
	Lines      int           `json:"lines"`
}

// runFind finds the commits of a range that have no link and contain a session's changes, and links
// them if asked to.
func runFind(ctx context.Context, a *app.App, opts linkOptions, args []string) (err error) {
	repo, err := a.Worktree()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	revs := []string{"HEAD", "--not", "--remotes"}
	if len(args) > 0 {
		if strings.HasPrefix(args[0], "-") {
			return app.Usagef("%s is not a range", ui.Line(args[0], format.NameWidth))
		}
		revs = args
		// A server's variable for the commit before the first push of a branch consists of zeros.
		if before, after, isRange := strings.Cut(args[0], ".."); isRange && git.OID(before) == repo.Format.Zero() {
			revs = []string{after}
		}
	}
	w, log := a.LoggingWorkspace(repo, "link")
	defer func() { _ = log.Close() }()
	w.Options.AmendCommits = false
	remote := cmp.Or(w.Options.PushRemote, "origin")
	if opts.push {
		err := a.WithTransferProgress(repo, "Fetching checkpoints", func() error { return fetchForFind(ctx, w, remote, revs) })
		if err != nil {
			return err
		}
	}
	var found []record.FoundCommit
	err = a.Streams.Stages("Reading the record", func(reach func(string, int64, int64)) (err error) {
		found, err = record.FindUnlinked(ctx, w, opts.write, reach, revs...)
		return err
	})
	if err != nil {
		if len(args) > 0 && len(found) == 0 {
			return app.WithHint(fmt.Errorf("find commits of %s: %w", ui.Line(args[0], format.NameWidth), err), rangeHint(repo))
		}
		return err
	}
	if err := printFound(a, opts, found); err != nil || !opts.push {
		return err
	}
	if err := sharing.Push(ctx, w, remote); err != nil {
		a.Streams.Notef("warning: the links were not pushed: %s", ui.Line(err.Error(), format.NameWidth*4)) //nolint:mnd // a line of git's
	}
	return ctx.Err()
}

// fetchForFind fetches the checkpoints of a remote, and in a partial clone what it lacks of their metadata
// and of the commits to compare.
func fetchForFind(ctx context.Context, w *workspace.Workspace, remote string, revs []string) error {
	err := sharing.FetchCheckpoints(ctx, w, remote)
	if errors.Is(err, git.ErrNoRemoteRef) {
		return nil
	}
	if err == nil {
		err = git.FetchMissingFiles(ctx, w.Repo, remote, checkpoint.MetadataBranch, "metadata.json")
	}
	if err != nil {
		return err
	}
	// A range that can't be read is reported by the search.
	if err := git.FetchDiffs(ctx, w.Repo, revs...); err != nil {
		w.Log.InfoContext(ctx, "commits not fetched", "error", err.Error())
	}
	return ctx.Err()
}

// rangeHint is the hint if a range can't be read.
func rangeHint(repo *git.Repo) string {
	if cut, err := git.ShallowBoundary(repo); err == nil && len(cut) > 0 {
		return format.DeepenHint
	}
	return "give a range as for git log: main..topic, HEAD~5..HEAD"
}

func printFound(a *app.App, opts linkOptions, found []record.FoundCommit) error {
	if opts.json {
		list := make([]foundJSON, len(found))
		for i, c := range found {
			list[i] = foundJSON{
				Commit: c.Commit.OID, Checkpoints: format.NotNil(c.IDs), Sessions: format.NotNil(c.Sessions),
				Derived: len(c.Derived) > 0, Written: opts.write,
			}
			for _, d := range c.Derived {
				list[i].Lines = append(list[i].Lines, foundLines{d.Checkpoint, d.Lines})
			}
		}
		return a.Streams.JSONOf(foundListJSON{list}, "found")
	}
	verb := "Found"
	if opts.write {
		verb = "Linked"
	}
	for _, c := range found {
		a.Streams.Printf("%s %s%s%s\n", verb, c.Commit.OID.Short(), format.Quoted(plain.FirstLine(c.Commit.Message)), evidenceOf(c))
	}
	switch {
	case len(found) == 0:
		a.Streams.Printf("No unlinked commit has a session's content\n")
	case !opts.write:
		a.Streams.Printf("  hint: --write links them, in git notes\n")
	}
	return nil
}

// evidenceOf returns what shows that a commit is a session's.
func evidenceOf(c record.FoundCommit) string {
	if len(c.Derived) == 0 {
		if len(c.IDs) > 0 {
			return " (" + namesOf(c.IDs) + ")"
		}
		return " (content of " + ui.Plural(len(c.Sessions), "session") + ")"
	}
	parts := make([]string, 0, len(c.Derived))
	for _, d := range c.Derived {
		parts = append(parts, string(d.Checkpoint)+": "+ui.Plural(d.Lines, "line"))
	}
	return " (derived from " + strings.Join(parts, ", ") + ")"
}
