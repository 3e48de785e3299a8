// Package history has the commands that show, continue or link what is recorded: sessions,
// explain, resume, recall, link and unlink; log, search, usage, report and browse; blame and why.
package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/strategy/blame"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/sharing"
)

type explainOptions struct {
	outputFlags

	checkpoint, commit, session, agent string
	what, path                         string // the argument, and its path if it is one
	short, full, raw                   bool
	searchAll                          bool
	generate, force, fetch             bool
	// showSession and showSnapshot replace the list of a session's checkpoints, and the checkpoint of a
	// snapshot. They are nil for explain.
	showSession, showSnapshot func(ctx context.Context, what string) error
}

// NewExplain returns the command that shows the record of a commit or checkpoint.
func NewExplain(a *app.App) *cobra.Command {
	var opts explainOptions
	cmd := &cobra.Command{
		Use:        "explain [<what>]",
		SuggestFor: []string{"show"},
		Short:      "Show what was asked, said and done for a commit",
		Long: `Without an argument it lists the checkpoints of the current branch: on the default
branch those of the last 500 commits, on other branches those of its own commits.
Turns that are not committed yet are marked [temporary].

With a checkpoint or commit it shows the checkpoint: author, time, tokens, commits,
summary, files, and its part of the conversation. A commit with several checkpoints
lists them; --full shows all. A snapshot (v12, 12) stands for the checkpoint of its
commit or turn, unless a tag, branch or file has that name. With a session or a file
it lists their checkpoints. Ids may be shortened to 4 characters.

With --generate your own claude program summarizes the redacted conversation; the
summary is stored with the checkpoint. Nothing else leaves your machine.

What is not in this clone is reported; --fetch fetches it from the remote first.

EXIT STATUS
  0  shown, even if incomplete or the commit has no checkpoint
  1  failure, or no such checkpoint or commit
  2  wrong usage`,
		Example: `  entire explain
  entire explain HEAD~2 --short
  entire explain a1b2c3
  entire explain src/auth.ts
  entire explain HEAD --raw-transcript > session.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.what = args[0]
			}
			for _, name := range []string{"checkpoint", "commit", "session"} {
				if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" { // a script's empty variable
					return app.Usagef("--%s is empty", name)
				}
			}
			given := 0
			for _, value := range []string{opts.checkpoint, opts.commit, opts.session, opts.what} {
				if value != "" {
					given++
				}
			}
			switch {
			case given > 1 && opts.what != "":
				return app.Usagef("--checkpoint, --commit and --session can't be combined with %q", opts.what)
			case given > 1:
				return app.Usagef("cannot specify multiple of --checkpoint, --commit and --session")
			case opts.raw && opts.checkpoint+opts.commit+opts.what == "":
				return app.Usagef("--raw-transcript needs --checkpoint or --commit")
			case opts.generate && opts.checkpoint+opts.what == "":
				return app.Usagef("--generate needs --checkpoint")
			case opts.force && !opts.generate:
				return app.Usagef("--force needs --generate")
			case opts.raw && opts.json:
				return app.Usagef("--raw-transcript and --json can't be combined")
			}
			return runExplain(cmd.Context(), a, opts)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&opts.checkpoint, "checkpoint", "c", "", "show the checkpoint with this id, or prefix of one, or the commit of a temporary one")
	f.StringVar(&opts.commit, "commit", "", "show the checkpoints of this commit")
	f.StringVar(&opts.session, "session", "", "list only checkpoints of the session with this id, or prefix of one")
	f.StringVar(&opts.agent, "agent", "", "list only checkpoints of this agent: codex, or part of its name")
	f.BoolVarP(&opts.short, "short", "s", false, "leave out the files and the conversation")
	f.BoolVar(&opts.full, "full", false, "show the whole conversation, and all checkpoints of a commit")
	f.BoolVar(&opts.raw, "raw-transcript", false, "print the stored transcript of the checkpoint's main session, byte for byte")
	opts.addListOutput(a, f)
	f.BoolVar(&opts.generate, "generate", false, "let claude write a summary of the checkpoint first; needs --checkpoint")
	f.BoolVar(&opts.force, "force", false, "with --generate: replace an existing summary")
	f.BoolVar(&opts.fetch, "fetch", false, "fetch missing checkpoints from the remote first")
	f.BoolVar(&opts.searchAll, "search-all", false, "search all refs for the checkpoint's commits, not only local branches")
	cmd.MarkFlagsMutuallyExclusive("short", "full", "raw-transcript")
	cmd.ValidArgsFunction = setup.ArgumentOrFile(a, 0, setup.Checkpoints, setup.Branches, setup.Sessions)
	setup.Flag(cmd, "checkpoint", setup.FlagValue(a, setup.Checkpoints))
	setup.Flag(cmd, "commit", setup.FlagValue(a, setup.Branches))
	setup.Flag(cmd, "session", setup.FlagValue(a, setup.Sessions))
	setup.Flag(cmd, "agent", setup.FlagValue(a, setup.Agents))
	return cmd
}

// explaining is one run of explain.
type explaining struct {
	*app.App

	opts   explainOptions
	reader query.CheckpointReader
	found  *query.CheckpointList // the list that the argument selects; nil if it isn't read yet
	edited map[string]blame.Share
	shown  bool // the argument was a snapshot, and is shown
}

func runExplain(ctx context.Context, a *app.App, opts explainOptions) (err error) {
	repo, err := a.Repository()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	w := a.Workspace(repo)
	e := &explaining{App: a, opts: opts, reader: query.CheckpointReader{Repo: repo, Order: w.Options.Order, Index: func(ctx context.Context) (*index.Reader, error) { return query.CurrentIndex(ctx, w) }}}
	if opts.fetch {
		if err := e.fetchRecord(ctx); err != nil {
			return err
		}
	}
	if opts.what != "" {
		if err := e.resolve(ctx); err != nil {
			return err
		}
		switch {
		case e.shown:
			return nil
		case e.opts.session != "" && e.opts.showSession != nil && !opts.raw && !opts.generate:
			return e.opts.showSession(ctx, e.opts.session)
		}
		if opts.generate && e.opts.checkpoint == "" || opts.raw && e.opts.checkpoint+e.opts.commit == "" {
			return app.Usagef("%q is not a checkpoint", opts.what)
		}
	}
	if opts.fetch {
		if err := e.fetch(ctx); err != nil {
			return err
		}
	}
	switch {
	case e.opts.checkpoint != "":
		return e.checkpoint(ctx)
	case e.opts.commit != "":
		return e.commit(ctx)
	}
	return e.list(ctx)
}

// fetchRecord fetches the branch with checkpoints and its trees, if they are missing.
//
// If the last fetch of a remote has shown that other clones have forgotten content, it is removed
// here, too.
func (e *explaining) fetchRecord(ctx context.Context) error {
	repo := e.reader.Repo
	w := e.Workspace(repo)
	if err := sharing.FetchForgotten(ctx, w); err != nil {
		return err
	}
	if gaps, err := e.reader.Gaps(ctx); err == nil && slices.Contains(gaps, query.NoRecord) && !e.wantsRefs(ctx) {
		if err := e.FetchRecord(ctx, repo); err != nil {
			return err
		}
	}
	records, err := w.Records(ctx)
	if err != nil || len(records.Absent) == 0 {
		return err
	}
	return e.FetchObjects(ctx, repo, records.Absent)
}

// fetch fetches what is missing of the checkpoints to show. If no branch here has one of them, it
// fetches the branch again, which `git fetch` doesn't update in a clone of a single branch.
func (e *explaining) fetch(ctx context.Context) error {
	missing, err := e.missing(ctx)
	if err == nil && len(missing.Unknown) > 0 {
		if err = e.fetchUnknown(ctx, missing.Unknown); err == nil {
			missing, err = e.missing(ctx)
		}
	}
	if err == nil && len(missing.Objects) > 0 {
		err = e.FetchObjects(ctx, e.reader.Repo, missing.Objects)
	}
	e.found = nil
	return err
}

// missing returns what this clone lacks of the checkpoints to show.
func (e *explaining) missing(ctx context.Context) (query.MissingRecords, error) {
	switch {
	case e.opts.checkpoint != "":
		return e.reader.MissingOfCheckpoint(ctx, e.opts.checkpoint)
	case e.opts.commit != "":
		return e.reader.MissingOfCommit(ctx, e.opts.commit)
	}
	return e.reader.MissingOfList(ctx)
}

// wantsRefs reports whether a checkpoint to show has a ref that is not in this clone.
func (e *explaining) wantsRefs(ctx context.Context) bool {
	missing, err := e.missing(ctx)
	return err == nil && slices.ContainsFunc(missing.Unknown, func(id checkpoint.ID) bool {
		_, err := checkpoint.ParseID(string(id))
		return err == nil && id.IsULID()
	})
}

// fetchUnknown fetches checkpoints that are not in this clone: those with refs alone, for others the
// branch.
func (e *explaining) fetchUnknown(ctx context.Context, unknown []checkpoint.ID) error {
	repo := e.reader.Repo
	inRefs := slices.DeleteFunc(slices.Clone(unknown), func(id checkpoint.ID) bool {
		_, err := checkpoint.ParseID(string(id))
		return err != nil || !id.IsULID()
	})
	if len(inRefs) < len(unknown) {
		if err := e.FetchRecord(ctx, repo); err != nil {
			return err
		}
	}
	if len(inRefs) == 0 {
		return nil
	}
	w := e.Workspace(repo)
	remotes, err := sharing.ReadRemotes(ctx, w)
	if err != nil {
		return err
	}
	err = e.WithTransferProgress(repo, "Fetching "+ui.Plural(len(inRefs), "checkpoint"), func() error {
		return sharing.FetchRefs(ctx, w, remotes, inRefs)
	})
	if gone, ok := errors.AsType[*sharing.NotThereError](err); ok {
		named, failed := checkpoint.LinkedCommits(ctx, repo, []checkpoint.ID{gone.ID}, append(checkpoint.UserRefs(), "--")...)
		if failed == nil && len(named) == 0 {
			return app.WithHint(fmt.Errorf("no such checkpoint: no commit here names %s, and %s doesn't have it", gone.ID, strings.Join(gone.Remotes, ", ")),
				"`entire log --commits` lists the checkpoints of this branch; `git fetch` may fetch commits that name it")
		}
	}
	return err
}

func (e *explaining) options() query.ExplainOptions {
	o := query.ExplainOptions{Subagents: !e.opts.short}
	if e.opts.full {
		o.Scope = query.Whole
	}
	if e.opts.searchAll {
		o.Search = query.All
	}
	o.Derive = func(ctx context.Context, c git.Commit) (found []query.DerivedLink, err error) {
		err = e.Streams.Stages("Reading the record", func(reach func(string, int64, int64)) error {
			links, err := query.DerivedLinks(ctx, e.Workspace(e.reader.Repo), query.LinkOptions{Progress: reach}, []git.Commit{c})
			found = links[c.OID]
			return err
		})
		return found, err
	}
	return o
}

func (e *explaining) checkpoint(ctx context.Context) error {
	d, err := e.reader.Checkpoint(ctx, e.opts.checkpoint, e.options())
	if _, isUnknown := errors.AsType[*query.NotFoundError](err); isUnknown && !e.opts.generate && !strings.HasPrefix(e.opts.checkpoint, "-") {
		if _, failed := e.reader.Repo.Commit(ctx, e.opts.checkpoint+"^{commit}"); failed == nil { // a commit
			e.opts.commit = e.opts.checkpoint
			return e.commit(ctx)
		}
	}
	if err == nil && e.opts.generate {
		id, bad := checkpoint.ParseID(d.ID)
		if d.Temporary || bad != nil {
			return errors.New("only checkpoints of commits can be summarized")
		}
		w, log := e.LoggingWorkspace(e.reader.Repo, "explain")
		defer func() { _ = log.Close() }()
		err = e.Streams.Progress("Asking claude", func() error {
			return app.Summarize(ctx, w, record.SummaryOf{ID: id, Again: e.opts.force})
		})
		if err == nil {
			d, err = e.reader.Checkpoint(ctx, d.ID, e.options())
		}
	}
	if err != nil {
		return e.explained(ctx, err)
	}
	if e.opts.raw {
		return e.copy(ctx, d)
	}
	if err := e.countEdited(ctx, []query.Detail{d}); err != nil {
		return err
	}
	if e.opts.json {
		return e.json(ctx, query.OfCommit{Checkpoints: []query.Detail{d}})
	}
	e.opts.show(e.App, e.text().checkpoint(d))
	return nil
}

func (e *explaining) commit(ctx context.Context) error {
	o := e.options()
	switch {
	case e.opts.json, e.opts.raw, e.opts.full:
	case e.opts.short:
		o.MostDetails = 5
	default:
		o.MostDetails = 1
	}
	of, err := e.reader.Commit(ctx, e.opts.commit, o)
	if err != nil {
		return e.explained(ctx, err)
	}
	if e.opts.raw && len(of.Checkpoints) > 0 {
		return e.copy(ctx, of.Checkpoints[len(of.Checkpoints)-1])
	}
	if err := e.countEdited(ctx, of.Checkpoints); err != nil {
		return err
	}
	if e.opts.json && !e.opts.raw {
		return e.json(ctx, of)
	}
	if of.Cut {
		e.Streams.Printf("Commit %s is a merge of commits that are not in this shallow clone.\n  hint: %s\n", of.Commit.OID.Short(), format.DeepenHint)
		return nil
	}
	if len(of.Checkpoints)+len(of.Missing)+len(of.Points) == 0 {
		return e.unlinked(ctx, of.Commit)
	}
	if len(of.Checkpoints)+len(of.Points) == 0 {
		return app.WithHint(&query.NotFoundError{Kind: "checkpoint", Name: string(of.Missing[0])}, fetchHint)
	}
	x := e.text()
	if of.Merge {
		e.opts.show(e.App, x.brought(of)+notStored(of.Missing))
		return nil
	}
	var b strings.Builder
	b.WriteString(x.overview(of))
	if len(of.Checkpoints) == 1 && len(of.Missing) == 0 {
		switch {
		case of.Imported:
			fmt.Fprintf(&b, "Commit %s was linked to 1 checkpoint by an import, after it was made.\n\n", of.Commit.OID.Short())
		case of.Derived:
			fmt.Fprintf(&b, "Commit %s has lines of 1 checkpoint: derived from its content, as its message names none.\n\n", of.Commit.OID.Short())
		}
	}
	for i, d := range of.Checkpoints {
		if i > 0 || len(of.Checkpoints)+len(of.Missing) > 1 {
			b.WriteByte('\n')
		}
		b.WriteString(x.checkpoint(d))
	}
	b.WriteString(notStored(of.Missing))
	e.opts.show(e.App, b.String())
	return nil
}

// unlinked prints what is known of a commit that names no checkpoint.
func (e *explaining) unlinked(ctx context.Context, commit git.Commit) error {
	author, err := blame.Reader{Repo: e.reader.Repo}.Unlinked(ctx, commit)
	if err != nil {
		return err
	}
	text := "No session is recorded for it: " + author.Basis.Text()
	switch author.Basis { //nolint:exhaustive // the others are reasons why nothing is recorded
	case blame.Seen:
		text = "No session contributed to it"
	case blame.BeforeRecording:
		text = "It was " + author.Basis.Text()
	}
	e.Streams.Printf("No associated Entire checkpoint\n\nCommit %s names no checkpoint.\n%s.\n", commit.OID.Short(), text)
	if hint := basisHint(author.Basis, commit.OID.Short()+"^!"); hint != "" {
		e.Streams.Printf("  hint: %s\n", hint)
	}
	return nil
}

// countEdited counts the lines of those checkpoints whose attribution another program computed and
// which have a commit to themselves. A commit whose diff can't be read has no count.
func (e *explaining) countEdited(ctx context.Context, details []query.Detail) error {
	e.edited = map[string]blame.Share{}
	for _, d := range details {
		if !slices.ContainsFunc(d.Sessions, func(s query.CheckpointSession) bool { return s.Recorder != "" }) {
			continue
		}
		at := slices.IndexFunc(d.Commits, func(c git.Commit) bool { return len(c.Parents) < 2 && len(checkpoint.IDsOf(c)) == 1 }) //nolint:mnd // no merge
		if at < 0 {
			continue // it is not known which lines are the checkpoint's
		}
		share, err := blame.Reader{Repo: e.reader.Repo, Workspace: e.Workspace(e.reader.Repo)}.Share(ctx, d.Commits[at].OID)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && share.Agent > 0 {
			e.edited[d.ID] = share
		}
	}
	return nil
}

// fetchHint is the hint if checkpoints that commits name are not stored here.
const fetchHint = "`entire fetch` fetches missing checkpoints that the remote has"

// copy prints a stored transcript unchanged; on a terminal it is escaped.
func (e *explaining) copy(ctx context.Context, d query.Detail) error {
	found := false
	err := e.Streams.Show(func(w io.Writer) (err error) {
		found, err = e.reader.Copy(ctx, d, w)
		return err
	})
	if err == nil && !found {
		return errors.New("checkpoint " + d.ID + " has no transcript")
	}
	return err
}

// explained adds hints to the errors of reading checkpoints.
func (e *explaining) explained(ctx context.Context, err error) error {
	unknown, isUnknown := errors.AsType[*query.NotFoundError](err)
	ambiguous, isAmbiguous := errors.AsType[*query.AmbiguousError](err)
	switch {
	case isUnknown && unknown.Kind == "checkpoint":
		return app.WithHint(err, format.HintWithGaps(ctx, e.reader.Repo, "`entire log --commits` lists the checkpoints of this branch; give a commit with --commit"))
	case isUnknown:
		return app.WithHint(err, format.HintWithGaps(ctx, e.reader.Repo, "give a commit as for git: HEAD~2, a branch, a commit id"))
	case isAmbiguous:
		const most = 5
		found := ambiguous.Found[:min(len(ambiguous.Found), most)]
		return app.WithHint(err, "give more characters: "+strings.Join(found, ", "))
	case errors.Is(err, git.ErrTooMuch):
		return app.WithHint(err, format.TooLargeHint)
	}
	return err
}
