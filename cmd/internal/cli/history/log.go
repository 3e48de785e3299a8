package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/strategy/query"
)

type log struct {
	turnQuery

	patch, commands, follow bool
	persons                 bool // the table has a column of persons
	sessions, commits, all  bool
	revs                    []string // a range of commits
}

// NewLog returns the command that lists turns.
func NewLog(a *app.App) *cobra.Command {
	l := &log{turnQuery: turnQuery{app: a}}
	cmd := &cobra.Command{
		Use:        "log [<range>] [[--] <path>]",
		SuggestFor: []string{"turns", "timeline", "history", "ls", "list"},
		Short:      "List what agents did, one line per turn",
		Long: `Lists the turns of all sessions and worktrees, newest first: time, agent, files and lines
changed, commands (and how many failed), tokens including subagents, the commit, and the
prompt. Persons are listed if several ran the sessions.

With a range of commits, as for git log, it lists the turns of those commits. With a path
it lists every turn that changed it, even if the change was reverted or never committed.

With --sessions it lists sessions, which are

  active    a turn is running
  idle      open, waiting for a prompt
  ended     ended
  gone      not ended, but its agent is no longer running
  stored    known only from its checkpoints, such as a colleague's
  imported  stored, and imported

With --commits it lists the commits of this branch with their checkpoints.

With --follow it lists new turns, and turns to which something was added, until it is
interrupted; as JSON only with --jsonl.

EXIT STATUS
  0  listed, even if there are none
  1  failure
  2  wrong usage`,
		Example: `  entire log --since 1h
  entire log -p src/auth.go
  entire log --commands --failed
  entire log main..HEAD
  entire log --sessions`,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.parse(cmd, args); err != nil {
				return err
			}
			switch {
			case l.sessions:
				return runSessions(cmd.Context(), a, sessionsOptions{l.outputFlags, l.person, l.filter.Agent, l.limit, l.all})
			case l.commits:
				return l.listCommits(cmd.Context())
			}
			return l.run(cmd.Context())
		},
	}
	const limit = 30
	l.addFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&l.filter.Uncommitted, "uncommitted", false, "only turns with uncommitted changes")
	f.BoolVarP(&l.patch, "patch", "p", false, "show what each turn changed, as a diff")
	f.BoolVar(&l.commands, "commands", false, "list the shell commands of each turn, and their results")
	f.BoolVar(&l.follow, "follow", false, "wait for new turns, and list them")
	f.BoolVar(&l.sessions, "sessions", false, "list sessions")
	f.BoolVar(&l.commits, "commits", false, "list commits with their checkpoints")
	f.BoolVarP(&l.all, "all", "a", false, "list all")
	addLimit(cmd, &l.limit, limit, "list at most this many")
	cmd.MarkFlagsMutuallyExclusive("limit", "all")
	cmd.MarkFlagsMutuallyExclusive("sessions", "commits", "follow", "patch")
	cmd.ValidArgsFunction = setup.ArgumentOrFile(a, 0, setup.Branches)
	return cmd
}

// parse reads the arguments, ranges of commits and a path, and refuses flags that the list of sessions
// or commits doesn't take.
func (l *log) parse(cmd *cobra.Command, args []string) error {
	for i, arg := range args {
		if at := cmd.ArgsLenAtDash(); (at < 0 || i < at) && strings.Contains(arg, "..") && !strings.Contains(arg, "/../") && !strings.HasPrefix(arg, "../") {
			l.revs = append(l.revs, arg)
			continue
		}
		if l.file != "" {
			return app.WithHint(app.Usagef("only one path can be given"), "name a folder to list what changed in it")
		}
		l.file = arg
	}
	if l.all {
		l.limit = math.MaxInt32
	}
	takes := map[string][]string{
		"sessions": {"sessions", "agent", "by", "author", "limit", "all"},
		"commits":  {"commits", "agent", "by", "author", "limit", "all", "session", "file", "since", "until"},
	}
	for kind, flags := range takes {
		if !cmd.Flags().Changed(kind) {
			continue
		}
		if len(l.revs) > 0 || kind == "sessions" && l.file != "" {
			return app.Usagef("--%s takes no argument %q", kind, args[0])
		}
		var bad string
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if !slices.Contains(append(flags, "json", "jsonl", "no-pager"), f.Name) {
				bad = f.Name
			}
		})
		if bad != "" {
			return app.Usagef("--%s and --%s can't be combined", kind, bad)
		}
	}
	if len(l.revs) > 0 && (l.filter != index.Filter{} || l.since != "" || l.until != "" || l.file != "" || l.follow) {
		return app.Usagef("a range can't be combined with flags that select turns")
	}
	return nil
}

func (l *log) run(ctx context.Context) error {
	if l.patch && l.json {
		return app.Usagef("--patch and --json can't be combined")
	}
	if l.follow && l.json && !l.app.Streams.Lines {
		return app.WithHint(app.Usagef("--follow prints no JSON object, as it doesn't end"), "--jsonl prints a line for each turn")
	}
	var turns []entry
	more := false
	err := l.ask(ctx, func(repo *git.Repo, r *index.Reader) (err error) {
		turns, more, err = l.read(ctx, repo, r)
		return err
	})
	if err != nil {
		return err
	}
	if l.follow {
		return l.following(ctx, turns)
	}
	names := make([]string, len(turns))
	for i := range turns {
		names[i] = turns[i].Person
	}
	l.persons = format.HasSeveral(names...)
	switch {
	case l.json:
		return l.app.Streams.JSONList(ui.JSONList{
			Key: "turns",
			Entries: func(yield func(any, error) bool) {
				for i := range turns {
					if !yield(newLogJSON(&turns[i]), nil) {
						return
					}
				}
			},
			After: func() any { return logEndJSON{More: more, Missing: l.missing(ctx)} },
		})
	case len(turns) == 0 && len(l.revs) > 0:
		return l.nothing(ctx, "No turns of these commits.")
	case len(turns) == 0 && l.filter != index.Filter{}:
		return l.nothing(ctx, "No matching turns.")
	case len(turns) == 0:
		return l.nothing(ctx, "No turns yet. `entire enable` records your agent's.")
	case l.patch:
		return l.printPatches(ctx, turns, more)
	}
	text := l.text(turns)
	if more {
		text += "\nMore turns exist: use --limit.\n"
	}
	l.show(l.app, text)
	return l.noteMissing(ctx)
}

// entry is a turn in the list.
type entry struct {
	index.Row

	number   int // in its session
	commands []index.Call
	files    []index.ChangedFile
	others   []string // repositories that the turn changed, too
}

// read reads the selected turns, with the commands and files to list below them.
func (l *log) read(ctx context.Context, repo *git.Repo, r *index.Reader) (list []entry, more bool, err error) {
	var rows []index.Row
	if len(l.revs) > 0 {
		rows, more, err = l.ofRange(ctx, repo, r)
	} else {
		rows, more, err = r.Turns(ctx, l.filter, l.limit)
	}
	if err != nil {
		return nil, false, err
	}
	numbers, err := r.Numbers(ctx, rows)
	if err != nil {
		return nil, false, err
	}
	others := query.NewOthers(repo)
	for i := range rows {
		e, err := l.entry(ctx, r, &rows[i], others)
		if err != nil {
			return nil, false, err
		}
		e.number = numbers[e.ID]
		list = append(list, e)
	}
	return list, more, nil
}

// entry returns a turn with the commands and files to list below it.
func (l *log) entry(ctx context.Context, r *index.Reader, row *index.Row, others *query.Others) (e entry, err error) {
	e = entry{Row: *row, others: others.In(row.Session, row.Line, row.End)}
	if l.commands {
		if e.commands, err = r.Calls(ctx, e.ID, false); err != nil {
			return e, err
		}
		if l.filter.Failed {
			e.commands = slices.DeleteFunc(e.commands, func(c index.Call) bool { return c.Outcome != index.Failed })
		}
	}
	if l.filter.File != "" || l.json {
		e.files, err = r.ChangedFiles(ctx, e.ID)
	}
	return e, err
}

// ofRange reads the turns in the checkpoints of a range of commits, the newest first.
func (l *log) ofRange(ctx context.Context, repo *git.Repo, r *index.Reader) (rows []index.Row, more bool, err error) {
	commits, err := git.Commits(ctx, repo, append(append([]string{"--end-of-options"}, l.revs...), "--")...)
	if e, ok := errors.AsType[*git.ExitError](err); ok && e.Subcommand() == "log" && ctx.Err() == nil {
		return nil, false, app.WithHint(fmt.Errorf("%s: no such commits in this clone", ui.Line(strings.Join(l.revs, " "), format.NameWidth)),
			l.hintWithGaps(ctx, "name a range as git log takes it, such as main..HEAD"))
	}
	if err != nil {
		return nil, false, err
	}
	var ids []string
	for _, c := range commits {
		for _, id := range checkpoint.IDsOf(c) {
			ids = append(ids, string(id))
		}
	}
	if rows, err = r.TurnsOf(ctx, ids); err != nil {
		return nil, false, err
	}
	slices.Reverse(rows)
	return rows[:min(len(rows), l.limit)], len(rows) > l.limit, nil
}

// text returns the turns as a table, with the details below each.
func (l *log) text(turns []entry) string {
	table := &ui.Table{Spare: []string{"AGENT", "COMMANDS", "FILES", "TOKENS", "LINES", "PERSON"}}
	const person = 7 // the place of PERSON
	row := func(cells ...string) {
		if !l.persons {
			cells = slices.Delete(cells, person, person+1)
		}
		table.AddRow(cells...)
	}
	names := shortNames(turns)
	row("TURN", "WHEN", "AGENT", "FILES", "LINES", "COMMANDS", "TOKENS", "PERSON", "COMMIT", "PROMPT")
	now := l.app.Now()
	for i := range turns {
		e := &turns[i]
		agent, files, lines, commands, commit := "-", "-", "-", "-", "-"
		if e.Agent != "" {
			agent = ui.Line(e.Agent, 16) //nolint:mnd // the width of the longest common label
		}
		if e.Files > 0 {
			files, lines = strconv.Itoa(e.Files), fmt.Sprintf("+%d -%d", e.Added, e.Removed)
		}
		if e.Commands > 0 {
			commands = strconv.Itoa(e.Commands)
		}
		if e.Failed > 0 {
			commands += fmt.Sprintf(" (%d failed)", e.Failed)
		}
		if name := commitOf(&e.Row); name != "" {
			commit = name
		}
		row(names[e.Session]+":"+strconv.Itoa(e.number), agoOf(now, e.At), agent, files, lines, commands, ui.Count(e.Tokens.Total()+e.Subagents.Total()), cmp.Or(ui.Line(e.Person, format.PersonWidth), "-"), commit, ui.Line(labelOf(&e.Row), format.LineWidth))
	}
	heads := strings.SplitAfter(l.app.Streams.Table(table), "\n")
	var b strings.Builder
	b.WriteString(heads[0])
	for i := range turns {
		b.WriteString(heads[i+1])
		l.below(&b, &turns[i])
	}
	return b.String()
}

// shortNames returns the shortened ids of the turns' sessions.
func shortNames(turns []entry) map[string]string {
	var ids []string
	for i := range turns {
		if !slices.Contains(ids, turns[i].Session) {
			ids = append(ids, turns[i].Session)
		}
	}
	names := map[string]string{}
	for i, name := range format.UniqueSessions(ids) {
		names[ids[i]] = name
	}
	return names
}

// below writes the files and commands of a turn.
func (l *log) below(b *strings.Builder, e *entry) {
	if len(e.others) > 0 {
		fmt.Fprintf(b, "    %s\n", l.app.Streams.Paint(ui.Dim, "also changed "+ui.Line(strings.Join(e.others, ", "), format.LineWidth)))
	}
	for _, f := range e.files {
		if !l.concerns(f.Path) {
			continue
		}
		about := []string{fmt.Sprintf("+%d -%d", f.Added, f.Removed)}
		if !f.Edited {
			about = append(about, "by a command")
		}
		if f.Reverted {
			about = append(about, "reverted later")
		}
		if len(e.Checkpoints) == 0 {
			about = append(about, "not committed")
		}
		fmt.Fprintf(b, "    %s  %s\n", format.Path(f.Path), l.app.Streams.Paint(ui.Dim, strings.Join(about, ", ")))
	}
	for _, c := range e.commands {
		outcome, style := outcomeOf(c.Outcome, c.Status)
		outcome = cmp.Or(outcome, "?")
		by := ""
		if c.Agent != "" {
			by = "subagent: "
		}
		fmt.Fprintf(b, "    %s  %s%s\n", l.app.Streams.Paint(style, fmt.Sprintf("%-6s", outcome)), by, ui.Line(c.Text, format.LineWidth))
	}
}

// outcomeOf returns the outcome of a call, "" if it is unknown, and its style.
func outcomeOf(outcome index.Outcome, status int) (string, ui.Style) {
	switch {
	case outcome == index.Failed && status > 0:
		return fmt.Sprintf("exit %d", status), ui.Red
	case outcome == index.Failed:
		return "failed", ui.Red
	case outcome == index.Passed:
		return "ok", ui.Green
	default:
		return "", ui.Dim
	}
}

// concerns reports whether a file is the one that --file names, or is in that directory.
func (l *log) concerns(path string) bool {
	want := l.filter.File
	return want != "" && (path == want || strings.HasPrefix(path, want+"/") || strings.HasSuffix(path, "/"+want))
}

// logJSON is a turn in the output of `log --json`; docs/formats/ask.md describes it.
type logJSON struct {
	Turn     turnJSON      `json:"turn"`
	Changed  []fileJSON    `json:"changed"`
	Commands []commandJSON `json:"commands,omitempty"`
	Others   []string      `json:"other_repositories,omitempty"`
}

type fileJSON struct {
	Path      string `json:"path"`
	Added     int    `json:"added"`
	Removed   int    `json:"removed"`
	Edited    bool   `json:"edited"`
	Observed  bool   `json:"observed"`
	Reverted  bool   `json:"reverted"`
	Committed bool   `json:"committed"`
	Recorded  bool   `json:"recorded"`
}

type commandJSON struct {
	At       time.Time `json:"at,omitzero"`
	Command  string    `json:"command"`
	Outcome  string    `json:"outcome"`
	Status   *int      `json:"status,omitempty"`
	Subagent string    `json:"subagent,omitempty"`
}

// logEndJSON follows the turns.
type logEndJSON struct {
	More    bool             `json:"more"`
	Missing []format.GapJSON `json:"missing,omitempty"`
}

func newLogJSON(e *entry) logJSON {
	j := logJSON{Turn: newTurnJSON(&e.Row), Changed: []fileJSON{}, Others: e.others}
	for _, f := range e.files {
		j.Changed = append(j.Changed, fileJSON{
			Path: f.Path, Added: f.Added, Removed: f.Removed, Edited: f.Edited, Observed: f.Observed, Reverted: f.Reverted, Committed: len(e.Checkpoints) > 0, Recorded: f.Recorded,
		})
	}
	for _, c := range e.commands {
		one := commandJSON{At: utc(c.At), Command: c.Text, Outcome: []string{"unknown", "passed", "failed"}[c.Outcome], Subagent: c.Agent}
		if c.Status >= 0 {
			one.Status = &c.Status
		}
		j.Commands = append(j.Commands, one)
	}
	return j
}

// printPatches prints each turn with its diff.
func (l *log) printPatches(ctx context.Context, turns []entry, more bool) error {
	repo, err := l.app.Repository()
	if err != nil {
		return err
	}
	defer func() { _ = repo.Close() }()
	store, err := bands.Open(registry.RepositoryDir(repo.CommonDir))
	if err != nil && !errors.Is(err, bands.ErrNoStore) {
		return err
	}
	for i := range turns {
		e := &turns[i]
		l.app.Streams.Printf("%s\n", strings.TrimSuffix(l.text(turns[i:i+1]), "\n"))
		switch {
		case e.Files == 0:
		case e.Snapshot == 0 || e.Base == 0 || store == nil:
			l.app.Streams.Printf("    no snapshots of this turn; `%s` shows the agent's edits\n", commandOf(&e.Row))
		default:
			if err := l.printPatch(ctx, store, e); err != nil {
				return err
			}
		}
		l.app.Streams.Printf("\n")
	}
	if more {
		l.app.Streams.Printf("More turns exist: use --limit.\n")
	}
	return nil
}

// printPatch prints the diff of a turn's snapshots, of the files that the index lists for it.
func (l *log) printPatch(ctx context.Context, store *bands.Store, e *entry) (err error) {
	paths := []string{}
	files := e.files
	if len(files) == 0 {
		err := l.ask(ctx, func(_ *git.Repo, r *index.Reader) (err error) {
			files, err = r.ChangedFiles(ctx, e.ID)
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, f := range files {
		if f.Observed && (l.filter.File == "" || l.concerns(f.Path)) {
			paths = append(paths, f.Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	var sides []diff.Side
	defer func() {
		for _, s := range sides {
			err = errors.Join(err, s.Close())
		}
	}()
	for _, v := range []int{e.Base, e.Snapshot} {
		s, err := store.Snapshot(bands.Version(v))
		if errors.Is(err, bands.ErrNoSnapshot) {
			l.app.Streams.Printf("    snapshot v%d was deleted; `%s` shows the agent's edits\n", v, commandOf(&e.Row))
			return nil
		}
		if err != nil {
			return err
		}
		side, err := diff.SnapshotSide(store, s)
		if err != nil {
			return err
		}
		sides = append(sides, side)
	}
	return l.app.Streams.ShowDiff(func(w io.Writer) error {
		_, err := diff.Unified(ctx, w, sides[0], sides[1], diff.Options{Paths: paths})
		return err
	})
}

// following prints turns, the oldest first, then new and changed turns until ctx ends.
func (l *log) following(ctx context.Context, turns []entry) error {
	const every = time.Second
	seen := map[string]string{}
	for {
		for i := len(turns) - 1; i >= 0; i-- {
			e := &turns[i]
			id := e.Session + " " + strconv.Itoa(e.Line)
			state := fmt.Sprint(e.Commands, e.Failed, e.Files, e.Added, e.Removed, len(e.Commits))
			if seen[id] == state {
				continue
			}
			seen[id] = state
			if l.json {
				if err := l.app.Streams.JSONLine(newLogJSON(e)); err != nil {
					return err
				}
				continue
			}
			_, line, _ := strings.Cut(l.text(turns[i:i+1]), "\n")
			l.app.Streams.Printf("%s", line)
		}
		wait := time.NewTimer(every)
		select {
		case <-ctx.Done():
			wait.Stop()
			return nil
		case <-wait.C:
		}
		err := l.ask(ctx, func(repo *git.Repo, r *index.Reader) (err error) {
			turns, _, err = l.read(ctx, repo, r)
			return err
		})
		if err != nil && ctx.Err() == nil && !errors.Is(err, index.ErrBusy) {
			return err
		}
	}
}

// version returns the name of a snapshot, "" for 0.
func version(n int) string {
	if n == 0 {
		return ""
	}
	return bands.Version(n).String()
}
