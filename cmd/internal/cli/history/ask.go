package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/query"
)

// turnQuery holds the flags that these commands share.
type turnQuery struct {
	outputFlags

	app    *app.App
	filter index.Filter

	person       personFlags
	since, until string
	file         string
	linked       bool // commits name checkpoints, by the index
	limit        int
}

// outputFlags holds the flags of the commands that print what they find.
type outputFlags struct{ json, noPager bool }

// addOutput adds --json and --no-pager.
func (o *outputFlags) addOutput(f *pflag.FlagSet) {
	setup.JSONFlag(f, &o.json)
	f.BoolVar(&o.noPager, "no-pager", false, "don't use a pager")
}

// addListOutput is addOutput for a command that prints a list: it adds --jsonl, too.
func (o *outputFlags) addListOutput(a *app.App, f *pflag.FlagSet) {
	o.addOutput(f)
	setup.JSONLinesFlag(a, f, &o.json)
}

// show prints a text, through the pager unless --no-pager is given.
func (o *outputFlags) show(a *app.App, text string) {
	if o.noPager {
		a.Streams.Printf("%s", text)
		return
	}
	a.Page(text)
}

// addLimit adds --limit, which must be positive.
func addLimit(cmd *cobra.Command, limit *int, byDefault int, text string) {
	cmd.Flags().IntVarP(limit, "limit", "n", byDefault, text)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *limit < 1 {
			return app.Usagef("--limit must be at least 1")
		}
		return nil
	}
}

// addFlags adds the flags that select turns, and those for the output.
func (q *turnQuery) addFlags(cmd *cobra.Command) {
	q.addSelection(cmd)
	f := cmd.Flags()
	f.StringVar(&q.filter.Tool, "tool", "", "only turns that used this tool: Bash, Edit, ...")
	f.BoolVar(&q.filter.Failed, "failed", false, "only turns in which a command failed, with --tool: that tool")
	q.addListOutput(q.app, f)
	setup.Flag(cmd, "tool", setup.FlagValue(q.app, setup.Indexed(index.Tools)))
}

// personFlags are --by PERSON, and --author as its hidden former name.
type personFlags struct{ by, author string }

func (p *personFlags) add(a *app.App, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.by, "by", "", "only of the `person` with this name or address, or a part of it")
	f.StringVar(&p.author, "author", "", "the former name of --by")
	_ = f.MarkHidden("author") // it exists
	setup.Flag(cmd, "by", setup.FlagValue(a, setup.Indexed(index.Persons)))
	setup.Flag(cmd, "author", setup.FlagValue(a, setup.Indexed(index.Persons)))
}

// text returns the part of a name or address, "" for every person.
func (p *personFlags) text() string { return cmp.Or(p.by, p.author) }

// addSelection adds the flags that select turns by when, where and by whom they were.
func (q *turnQuery) addSelection(cmd *cobra.Command) {
	q.person.add(q.app, cmd)
	f := cmd.Flags()
	f.StringVar(&q.filter.Session, "session", "", "only the session with this id, or prefix of one")
	f.StringVar(&q.filter.Agent, "agent", "", "only this agent: codex, or part of its name")
	f.StringVarP(&q.filter.Branch, "branch", "b", "", "only on this branch")
	f.StringVarP(&q.file, "file", "f", "", "only turns that changed this file, or a file in this directory")
	f.StringVar(&q.since, "since", "", "only after this time: 90m, 2d, 3w, today, 2026-01-15")
	f.StringVar(&q.until, "until", "", "only before this time")
	setup.Flag(cmd, "session", setup.FlagValue(q.app, setup.Indexed(index.Sessions)))
	setup.Flag(cmd, "agent", setup.FlagValue(q.app, setup.Indexed(index.Agents)))
	setup.Flag(cmd, "branch", setup.FlagValue(q.app, setup.Branches))
	times := []cobra.Completion{"1h", "today", "yesterday", "7d", "30d"}
	setup.Flag(cmd, "since", cobra.FixedCompletions(times, cobra.ShellCompDirectiveNoFileComp))
	setup.Flag(cmd, "until", cobra.FixedCompletions(times, cobra.ShellCompDirectiveNoFileComp))
}

// ask updates and opens the index, and calls do with it.
func (q *turnQuery) ask(ctx context.Context, do func(repo *git.Repo, r *index.Reader) error) (err error) {
	if err := q.parseTimes(); err != nil {
		return err
	}
	repo, err := q.app.Repository()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	// --file is made relative to the root of the worktree. A path outside of it, such as a path of
	// another machine, is used as typed.
	q.filter.File = q.file
	if q.file != "" && repo.Root != "" {
		paths, err := app.TreePaths(repo.Root, q.app.Dir, []string{q.file})
		switch {
		case err != nil:
		case len(paths) == 0:
			q.filter.File = "" // all files
		default:
			q.filter.File = paths[0]
		}
	}
	r, err := q.app.OpenIndex(ctx, repo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if q.linked, err = r.Linked(ctx); err != nil {
		return err
	}
	return do(repo, r)
}

// parseTimes sets the filter's times and the label of its agent from the flags.
func (q *turnQuery) parseTimes() (err error) {
	now := q.app.Now()
	q.filter.Agent, q.filter.Person = app.AgentLabel(q.filter.Agent), q.person.text()
	for _, t := range []struct {
		flag, text string
		to         *time.Time
	}{{"--since", q.since, &q.filter.Since}, {"--until", q.until, &q.filter.Until}} {
		if *t.to, err = app.ParseTime(t.text, now); err != nil {
			return app.Usagef("%s: %v", t.flag, err)
		}
	}
	return nil
}

// nothing prints text. If parts of the record or of the history are missing in this clone, it prints
// that instead: they may contain matches.
func (q *turnQuery) nothing(ctx context.Context, text string) error {
	repo, err := q.app.Repository()
	if err != nil {
		return err
	}
	defer func() { _ = repo.Close() }()
	if gaps, err := (query.CheckpointReader{Repo: repo}).GapsGiven(ctx, q.linked); err == nil && len(gaps) > 0 { // `entire doctor` reports the error
		what, hint := format.Gaps(gaps)
		q.app.Streams.Notef("Nothing found: %s.", what)
		q.app.Streams.Hint(hint)
	} else {
		q.app.Streams.Notef("%s", text)
	}
	return ctx.Err()
}

// hintWithGaps calls format.HintWithGaps for this repository.
func (q *turnQuery) hintWithGaps(ctx context.Context, hint string) string {
	repo, err := q.app.Repository()
	if err != nil {
		return hint
	}
	defer func() { _ = repo.Close() }()
	return format.HintWithGaps(ctx, repo, hint)
}

// noteMissing calls format.NoteGaps for this repository.
func (q *turnQuery) noteMissing(ctx context.Context) error {
	repo, err := q.app.Repository()
	if err != nil {
		return err
	}
	defer func() { _ = repo.Close() }()
	format.NoteGaps(ctx, q.app.Streams, repo, q.linked)
	return ctx.Err()
}

// missing calls format.GapsOf for this repository.
func (q *turnQuery) missing(ctx context.Context) []format.GapJSON {
	repo, err := q.app.Repository()
	if err != nil {
		return nil
	}
	defer func() { _ = repo.Close() }()
	return format.GapsOf(ctx, repo, q.linked)
}

// commandOf returns the command that shows more of a turn.
func commandOf(r *index.Row) string {
	if r.Context != "" {
		return "entire recall show " + r.Context
	}
	if n := len(r.Checkpoints); n > 0 {
		return "entire show " + r.Checkpoints[n-1]
	}
	return "entire show " + ui.Line(r.Session, 40)
}

// titleOf returns the prompt of a turn on one line; of a plan only its heading.
func titleOf(r *index.Row) string { return cmp.Or(transcript.PromptTitle(r.Prompt), r.Prompt) }

// labelOf returns the title of a turn in a list. That of a turn that a rewind took back begins with that.
func labelOf(r *index.Row) string {
	if r.TakenBack {
		return format.TakenBack + ": " + titleOf(r)
	}
	return titleOf(r)
}

// commitOf returns the abbreviated id of a turn's newest commit, "" if it has none. "~" marks a commit that
// doesn't name the turn's checkpoint, but has its lines. "+1" is the number of its other commits.
func commitOf(r *index.Row) string {
	if len(r.Commits) == 0 {
		return ""
	}
	newest := slices.MaxFunc(r.Commits, func(a, b index.Commit) int { return a.At.Compare(b.At) })
	name := git.OID(newest.OID).Short()
	if newest.Derived {
		name = "~" + name
	}
	others := map[string]bool{}
	for i := range r.Commits {
		others[r.Commits[i].OID] = true
	}
	if n := len(others); n > 1 {
		name += fmt.Sprintf(" +%d", n-1)
	}
	return name
}
