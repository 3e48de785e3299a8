package history

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/report"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// showSnapshot shows a snapshot, such as v12, or prints a file of it, such as v12:src/auth.go.
type showSnapshot func(ctx context.Context, a *app.App, what string, json bool) error

// NewShow returns the command that shows one thing: what an argument names decides how.
func NewShow(a *app.App, snapshot showSnapshot) *cobra.Command {
	s := &showing{app: a, snapshot: snapshot}
	cmd := &cobra.Command{
		Use:        "show [<what>]",
		SuggestFor: []string{"cat", "info", "view"},
		Short:      "Show a commit, turn, session, line, snapshot or file",
		Long: `Shows one thing, by default HEAD:

  HEAD~2             a commit: what was asked, said and done for it
  a1b2c3d4e5f6       a checkpoint, as in a commit's trailer
  3f9a1c20           a session and its turns
  3f9a1c20:2         its second turn
  last, last:2       the last turn in this worktree, the one before it
  src/auth.go:42     why a line is there; also a range, src/auth.go:40-60
  "retry later"      why the newest line with this text is there
  src/auth.go        the checkpoints that changed a file
  v12                a snapshot
  v12:src/auth.go    a file as it was in a snapshot
  last:src/auth.go   a file as it was before the last turn

Branches, tags and files take precedence over snapshots of the same name. Ids may be
shortened to 4 characters.

EXIT STATUS
  0  shown, even if incomplete
  1  failure, or no such thing
  2  wrong usage`,
		Example: `  entire show
  entire show HEAD~2 --short
  entire show src/auth.go:42
  entire show v12:.env > .env`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			what := "HEAD"
			if len(args) > 0 {
				what = args[0]
			}
			if strings.TrimSpace(what) == "" { // a script's empty variable
				return app.Usagef("the argument is empty")
			}
			return s.run(cmd.Context(), what)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&s.short, "short", "s", false, "leave out the files and the conversation of a commit or checkpoint")
	f.BoolVar(&s.full, "full", false, "show the whole conversation, and all checkpoints of a commit")
	f.BoolVar(&s.raw, "raw-transcript", false, "print the stored transcript of a checkpoint, byte for byte")
	f.BoolVar(&s.generate, "generate", false, "let claude write a summary of the checkpoint first")
	f.BoolVar(&s.force, "force", false, "with --generate: replace an existing summary")
	f.BoolVar(&s.searchAll, "search-all", false, "search all refs for the checkpoint's commits, not only local branches")
	s.addListOutput(a, f)
	cmd.MarkFlagsMutuallyExclusive("short", "full", "raw-transcript")
	cmd.ValidArgsFunction = setup.ArgumentOrFile(a, 0, setup.Checkpoints, setup.Branches, setup.Sessions)
	return cmd
}

// showing is one run of show.
type showing struct {
	explainOptions

	app      *app.App
	snapshot showSnapshot
}

func (s *showing) run(ctx context.Context, what string) error {
	if s.force && !s.generate {
		return app.Usagef("--force needs --generate")
	}
	if s.raw && s.json {
		return app.Usagef("--raw-transcript and --json can't be combined")
	}
	version, _, hasPath := strings.Cut(what, ":")
	_, notVersion := bands.ParseVersion(version)
	turn, isTurn := rewind.ParseTurn(what)
	isText := strings.ContainsAny(what, " \t\n")
	session, number, isNumbered := splitTurn(what)
	switch place, isPlace := splitPlace(what); {
	case isPlace && s.isFile(place.path):
		return runWhy(ctx, s.app, whyOptions{s.outputFlags, s.full}, what)
	case hasPath && notVersion == nil, hasPath && version == "last" && !isTurn && !s.isCommit(ctx, what):
		return s.snapshot(ctx, s.app, what, s.json)
	case isTurn && !s.isCommit(ctx, what):
		return s.showTurn(ctx, index.Filter{}, turn)
	case isNumbered && !s.isCommit(ctx, what):
		return s.showTurn(ctx, index.Filter{Session: session}, -number)
	case isPlace && place.from > 0, isText:
		return runWhy(ctx, s.app, whyOptions{s.outputFlags, s.full}, what)
	}
	opts := s.explainOptions
	opts.what = what
	opts.showSession, opts.showSnapshot = s.showSession, func(ctx context.Context, what string) error { return s.snapshot(ctx, s.app, what, s.json) }
	return runExplain(ctx, s.app, opts)
}

// splitTurn parses "3f9a1c20:2", the second turn of a session.
func splitTurn(what string) (session string, number int, ok bool) {
	session, digits, ok := strings.Cut(what, ":")
	number, err := strconv.Atoi(digits)
	return session, number, ok && err == nil && number > 0 && mayBeSession(session) && !strings.ContainsAny(session, "./")
}

// isFile reports whether the worktree has a file with a path.
func (s *showing) isFile(path string) bool {
	return read(s.app, func(r *reading) error {
		rel, err := r.path(path)
		if err == nil && !r.isFile(rel) {
			err = errGone
		}
		return err
	}) == nil
}

// isCommit reports whether git has a commit with a name.
func (s *showing) isCommit(ctx context.Context, name string) bool {
	repo, err := s.app.Repository()
	if err != nil {
		return false
	}
	defer func() { _ = repo.Close() }()
	_, err = repo.Commit(ctx, name+"^{commit}")
	return err == nil
}

// showTurn shows the n-th newest turn that the filter selects, with a negative n the n-th oldest one.
// Without a session it selects the turns of this worktree.
func (s *showing) showTurn(ctx context.Context, f index.Filter, n int) error {
	q := turnQuery{outputFlags: s.outputFlags, app: s.app, filter: f}
	return q.ask(ctx, func(repo *git.Repo, r *index.Reader) error {
		limit := n
		if n < 0 {
			limit = math.MaxInt32
		}
		if f.Session == "" {
			f.Worktree = repo.Root
		}
		rows, _, err := r.Turns(ctx, f, limit)
		if err != nil {
			return err
		}
		if n < 0 {
			slices.Reverse(rows)
			n = -n
		}
		if other := slices.IndexFunc(rows, func(row index.Row) bool { return row.Session != rows[0].Session }); f.Session != "" && other >= 0 {
			return ambiguousSession(f.Session, []query.Session{{ID: rows[0].Session}, {ID: rows[other].Session}})
		}
		switch {
		case n > len(rows) && f.Session == "":
			return app.WithHint(fmt.Errorf("there is no such turn: this worktree has %d", len(rows)), "`entire log` lists the turns of all")
		case len(rows) == 0:
			return app.WithHint(fmt.Errorf("no session %s", ui.Line(f.Session, format.NameWidth)), "`entire log --sessions` lists them")
		case n > len(rows):
			return app.WithHint(fmt.Errorf("session %s has %s", format.Session(rows[0].Session), ui.Plural(len(rows), "turn")), "`entire show "+format.Session(rows[0].Session)+"` lists them")
		}
		row := &rows[n-1]
		if s.json {
			l := log{turnQuery: q, commands: true}
			e, err := l.entry(ctx, r, row, query.NewOthers(repo))
			if err != nil {
				return err
			}
			return s.app.Streams.JSON(newLogJSON(&e))
		}
		w := s.app.Workspace(repo)
		free := func(string, index.Tokens) (float64, bool) { return 0, true }
		made, err := report.Fill(ctx, w, r, report.Selection{Turn: row, Limit: 1}, free, func(string, int64, int64) {})
		if err == nil && len(made.Turns) == 0 {
			err = errGone
		}
		if err != nil {
			return err
		}
		const columns = 100
		width := columns
		if at := s.app.Streams.Columns(); at > 0 {
			width = min(at, columns)
		}
		t := turnText{streams: s.app.Streams, columns: width, full: true}
		t.whole(&made.Turns[0], row, made.Commits)
		if err := t.others(ctx, w, &made.Turns[0], row); err != nil {
			return err
		}
		if row.Base > 0 {
			t.line(ui.Dim, "A file as it was before: entire show "+made.Turns[0].Before+":FILE")
		}
		if command := commandOf(row); row.Context != "" || len(row.Checkpoints) > 0 {
			t.line(ui.Dim, "The conversation: "+command)
		}
		var b strings.Builder
		for _, line := range t.lines {
			b.WriteString(line.Text + "\n")
		}
		s.show(s.app, b.String())
		return nil
	})
}

// others adds the files that differ between the snapshots before and after a turn, but aren't among its
// files: those that git ignores, and what a person changed in that time. It adds nothing if a snapshot is
// gone or can't be read.
func (t *turnText) others(ctx context.Context, w *workspace.Workspace, turn *report.Turn, row *index.Row) error {
	if row.Base == 0 || row.Snapshot == 0 {
		return nil
	}
	var files []diff.File
	store, err := bands.Open(tracking.StoreDir(w))
	if err == nil {
		err = diff.Between(ctx, store, bands.Version(row.Base), bands.Version(row.Snapshot), func(old, now diff.Side) (err error) {
			files, err = diff.Stat(ctx, old, now, diff.Options{NoCounts: true})
			return err
		})
	}
	if err != nil {
		return ctx.Err()
	}
	files = slices.DeleteFunc(files, func(f diff.File) bool {
		return slices.ContainsFunc(turn.Files, func(own report.File) bool { return own.Path == f.Path || own.Path == f.OldPath })
	})
	if len(files) == 0 {
		return nil
	}
	t.line(ui.Bold, fmt.Sprintf("Also changed from %s to %s (ignored by git, or changed by somebody else)", turn.Before, turn.After))
	const most = 20
	for _, f := range files[:min(len(files), most)] {
		t.line("", fmt.Sprintf("%-9s %s", f.Kind, ui.Line(f.Path, format.MaxNameWidth)))
	}
	if more := len(files) - most; more > 0 {
		t.line(ui.Dim, fmt.Sprintf("and %d more: entire diff %s %s", more, turn.Before, turn.After))
	}
	t.line("", "")
	return nil
}

// sessionShownJSON is the output of `show SESSION --json`.
type sessionShownJSON struct {
	Session sessionJSON `json:"session"`
	Turns   []turnJSON  `json:"turns"`
}

// showSession shows a session and lists its turns, the oldest first.
func (s *showing) showSession(ctx context.Context, prefix string) error {
	q := turnQuery{outputFlags: s.outputFlags, app: s.app}
	return q.ask(ctx, func(repo *git.Repo, r *index.Reader) error {
		found, err := s.app.Sessions(repo).Find(ctx, prefix)
		switch {
		case err != nil:
			return err
		case len(found) == 0:
			return app.WithHint(fmt.Errorf("no session %s", ui.Line(prefix, format.NameWidth)), "`entire log --sessions` lists them")
		case len(found) > 1 && found[0].ID != prefix:
			return ambiguousSession(prefix, found)
		}
		one := &found[0]
		rows, _, err := r.Turns(ctx, index.Filter{Session: one.ID}, math.MaxInt32)
		if err != nil {
			return err
		}
		slices.Reverse(rows)
		if s.json {
			j := sessionShownJSON{Session: newSessionJSON(one), Turns: []turnJSON{}}
			for i := range rows {
				j.Turns = append(j.Turns, newTurnJSON(&rows[i]))
			}
			return s.app.Streams.JSONOf(j, "turns")
		}
		s.show(s.app, s.sessionText(one, rows))
		return nil
	})
}

func (s *showing) sessionText(one *query.Session, rows []index.Row) string {
	var b strings.Builder
	now := s.app.Now()
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name+":", value)
		}
	}
	line("Session", ui.Line(one.ID, format.NameWidth))
	line("Title", ui.Line(cmp.Or(one.Title, one.Prompt), format.LineWidth))
	line("State", stateOf(one))
	line("Agent", ui.Line(one.Agent, format.NameWidth))
	line("Person", ui.Line(strings.Join(one.Persons, ", "), format.LineWidth))
	line("Branch", ui.Line(one.Branch, format.NameWidth))
	if !one.Started.IsZero() {
		line("Started", one.Started.In(now.Location()).Format("2006-01-02 15:04"))
	}
	if !one.LastActive.IsZero() {
		line("Last active", ui.Ago(now, one.LastActive))
	}
	if n := one.Total(); n > 0 {
		line("Tokens", ui.Count(n))
	}
	line("Commits", strconv.Itoa(one.Commits()))
	if len(rows) > 0 {
		table := &ui.Table{Spare: []string{"COMMANDS", "LINES", "WHEN"}}
		table.AddRow("TURN", "WHEN", "LINES", "COMMANDS", "COMMIT", "PROMPT")
		for i := range rows {
			row := &rows[i]
			lines, commands := "-", "-"
			if row.Files > 0 {
				lines = fmt.Sprintf("+%d -%d", row.Added, row.Removed)
			}
			if row.Commands > 0 {
				commands = strconv.Itoa(row.Commands)
			}
			table.AddRow(strconv.Itoa(i+1), agoOf(now, row.At), lines, commands, cmp.Or(commitOf(row), "-"), ui.Line(titleOf(row), format.LineWidth))
		}
		b.WriteString("\n" + s.app.Streams.Table(table))
	}
	id := format.Session(one.ID)
	fmt.Fprintf(&b, "\n`entire show %s:N` shows a turn", id)
	if one.Phase != query.Active {
		fmt.Fprintf(&b, ", `entire resume %s` continues the session", id)
	}
	b.WriteString(".\n")
	return b.String()
}
