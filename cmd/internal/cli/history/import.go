package history

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/importing"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

type importOptions struct {
	importing.Options
	outputFlags

	agents string
	since  string
	all    bool
	// undo and share change what was imported before.
	undo, share bool
}

// NewImport returns the command that imports past sessions.
func NewImport(a *app.App) *cobra.Command {
	var opts importOptions
	cmd := &cobra.Command{
		Use:        "import [<file>...]",
		SuggestFor: []string{"backfill", "ingest", "history"},
		Short:      "Import past sessions and link past commits to them",
		Long: `Finds past sessions of this repository in the agents' own files: those that ran in one
of its worktrees, or in a folder given with --from if the repository was moved. Their
conversations are redacted and stored as checkpoints, and commits are linked to the
sessions that made them.

A commit is linked if a conversation shows it in the output of git commit, or if it
adds lines that a session wrote before. Links are git notes: no commit is changed, and
existing links are kept. Other lines stay "not recorded".

Importing again imports only what is new. Imported records stay in this clone: no push
sends them until --share moves them to the other checkpoints. --undo removes those
that were not shared. The agents' own files are not changed.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case (opts.undo || opts.share) && len(args) > 0:
				return app.Usagef("--undo and --share take no files")
			case opts.undo:
				return changeImported(cmd.Context(), a, opts, "Removed", importing.Undo)
			case opts.share:
				return changeImported(cmd.Context(), a, opts, "Shared", importing.Share)
			}
			opts.Files = args
			return runImport(cmd.Context(), a, opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.agents, "agent", "", "only sessions of this agent; for files: the agent that wrote them")
	f.StringVar(&opts.since, "since", "", "only sessions that were active after this time: 90d, 2026-01-15")
	f.StringVar(&opts.Session, "session", "", "only the session with this id")
	f.StringSliceVar(&opts.From, "from", nil, "an earlier folder of the repository")
	f.BoolVarP(&opts.DryRun, "dry-run", "n", false, "show what would be imported, and change nothing")
	f.BoolVarP(&opts.all, "all", "a", false, "list all sessions and commits")
	f.BoolVar(&opts.share, "share", false, "move imported records to where pushes send them")
	f.BoolVar(&opts.undo, "undo", false, "remove imported records that were not shared")
	opts.addListOutput(a, f)
	for _, name := range []string{"agent", "since", "session", "from", "dry-run", "all"} {
		cmd.MarkFlagsMutuallyExclusive(name, "share")
		cmd.MarkFlagsMutuallyExclusive(name, "undo")
	}
	cmd.MarkFlagsMutuallyExclusive("share", "undo")
	setup.Flag(cmd, "agent", setup.FlagValue(a, setup.Agents))
	return cmd
}

// changedImportJSON is the output of `import --share --json` and `import --undo --json`.
type changedImportJSON struct {
	Checkpoints int `json:"checkpoints"`
}

// changeImported shares or removes what was imported.
func changeImported(ctx context.Context, a *app.App, opts importOptions, verb string, do func(context.Context, *workspace.Workspace) (int, error)) (err error) {
	repo, err := a.Repository()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	w, log := a.LoggingWorkspace(repo, "import")
	defer func() { _ = log.Close() }()
	n, err := do(ctx, w)
	switch {
	case err != nil:
		return err
	case opts.json:
		return a.Streams.JSON(changedImportJSON{Checkpoints: n})
	case n == 0:
		a.Streams.Notef("Nothing was imported.")
	default:
		a.Streams.Printf("%s %s.\n", verb, ui.Plural(n, "imported checkpoint"))
	}
	return nil
}

// importJSON is the output of `import --json`; docs/formats/import.md describes it.
type importJSON struct {
	Sessions []importedSessionJSON `json:"sessions"`
	Commits  []importedCommitJSON  `json:"commits"`
	Unlinked []unlinkedJSON        `json:"unlinked"`
	Skipped  []skippedJSON         `json:"skipped"`
}

type importedSessionJSON struct {
	Session    string          `json:"session"`
	Agent      string          `json:"agent"`
	Path       string          `json:"path"`
	StartedAt  time.Time       `json:"started_at,omitzero"`
	EndedAt    time.Time       `json:"ended_at,omitzero"`
	Turns      int             `json:"turns"`
	State      importing.State `json:"state"`
	Checkpoint checkpoint.ID   `json:"checkpoint,omitempty"`
	Commits    []git.OID       `json:"commits"`
}

type importedCommitJSON struct {
	Commit     git.OID            `json:"commit"`
	Checkpoint checkpoint.ID      `json:"checkpoint"`
	Sessions   []string           `json:"sessions"`
	Evidence   importing.Evidence `json:"evidence"`
	Lines      int                `json:"lines"`
}

type unlinkedJSON struct {
	Commit git.OID `json:"commit"`
	Reason string  `json:"reason"`
}

type skippedJSON struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func runImport(ctx context.Context, a *app.App, opts importOptions) (err error) {
	if opts.Agents, err = setup.FindAgents(opts.agents); err != nil {
		return err
	}
	if opts.since != "" {
		if opts.Since, err = app.ParseTime(opts.since, a.Now()); err != nil {
			return app.Usagef("--since: %v", err)
		}
	}
	for _, paths := range [][]string{opts.From, opts.Files} {
		for i, name := range paths {
			if !filepath.IsAbs(name) {
				paths[i] = filepath.Join(a.Dir, name)
			}
		}
	}
	repo, err := a.Worktree()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	w, log := a.LoggingWorkspace(repo, "import")
	defer func() { _ = log.Close() }()
	var done importing.Result
	err = a.Streams.Sized("Importing", func(reach func(string, ui.Amount)) (err error) {
		var large sync.Once
		opts.Progress = func(what string, done, total int64) {
			if total > largeImport && what == importing.Storing { // most of the time is spent there
				large.Do(collectLater)
			}
			reach(what, amount(what, done, total))
		}
		done, err = importing.Run(ctx, w, opts.Options)
		return err
	})
	if err != nil {
		return err
	}
	if !opts.DryRun && len(done.Sessions) > 0 {
		r, err := a.OpenIndex(ctx, repo)
		if err != nil {
			return fmt.Errorf("the sessions are imported, but the index is not updated: %w", err)
		}
		if err := r.Close(); err != nil {
			return err
		}
	}
	if opts.json {
		err = a.Streams.JSONOf(newImportJSON(done), "sessions")
	} else {
		printImport(a, opts, done)
	}
	if n := len(done.Skipped); err == nil && len(opts.Files) > 0 && n > 0 {
		err = fmt.Errorf("%s not imported", ui.Plural(n, "file"))
	}
	return err
}

// largeImport is the size in bytes of session files from which an import takes some seconds.
const largeImport = 64 << 20

// collectLater lets the garbage collector use more memory than in other commands, and less time.
func collectLater() {
	const percent, limit = 100, 144 << 20
	debug.SetGCPercent(percent)
	debug.SetMemoryLimit(limit)
}

// amount returns the progress of a step, in bytes where sessions are read.
func amount(what string, done, total int64) ui.Amount {
	if what == importing.Reading || what == importing.Storing {
		return ui.Amount{Bytes: done, Size: total}
	}
	return ui.Amount{Done: done, Total: total}
}

func newImportJSON(done importing.Result) importJSON {
	out := importJSON{Sessions: []importedSessionJSON{}, Commits: []importedCommitJSON{}, Unlinked: []unlinkedJSON{}, Skipped: []skippedJSON{}}
	for _, s := range done.Sessions {
		out.Sessions = append(out.Sessions, importedSessionJSON{
			Session: s.ID, Agent: s.Agent.Name, Path: s.Path, StartedAt: format.UTC(s.Start), EndedAt: format.UTC(s.End),
			Turns: s.Turns, State: s.State, Checkpoint: s.Checkpoint, Commits: format.NotNil(s.Commits),
		})
	}
	for _, c := range done.Commits {
		out.Commits = append(out.Commits, importedCommitJSON{c.Commit.OID, c.Checkpoint, c.Sessions, c.Evidence, c.Lines})
	}
	for _, u := range done.Unlinked {
		out.Unlinked = append(out.Unlinked, unlinkedJSON(u))
	}
	for _, s := range done.Skipped {
		out.Skipped = append(out.Skipped, skippedJSON(s))
	}
	return out
}

func printImport(a *app.App, opts importOptions, done importing.Result) {
	states, evidence := map[importing.State]int{}, map[importing.Evidence]int{}
	for _, s := range done.Sessions {
		states[s.State]++
	}
	linked := 0
	for _, c := range done.Commits {
		if !c.Known {
			linked++
			evidence[c.Evidence]++
		}
	}
	verbs := [2]string{"Imported", "Linked"}
	if opts.DryRun {
		verbs = [2]string{"Would import", "Would link"}
	}
	a.Streams.Printf("%s %s%s\n", verbs[0], ui.Plural(states[importing.Imported], "session"), leftOut(states))
	a.Streams.Printf("%s %s%s\n", verbs[1], ui.Plural(linked, "commit"), evidenceText(evidence))
	if opts.all {
		printImported(a, done)
	}
	if n := len(done.Unlinked); n > 0 && !opts.all {
		a.Streams.Printf("%s not linked, although a session may have made %s: --all lists the reasons\n", ui.Plural(n, "commit"), itThem(n))
	}
	for _, s := range done.Skipped {
		a.Streams.Notef("not imported: %s: %s", format.Path(s.Path), s.Reason)
	}
	if len(done.Sessions)+len(done.Skipped) == 0 && len(opts.Files) == 0 {
		a.Streams.Printf("  hint: no agent has sessions of this folder; if the repository was moved, give the old folder with --from\n")
	}
	if !opts.DryRun && linked > 0 {
		a.Streams.Printf("  hint: `entire show <file>:<line>` shows the prompt behind a line; `entire import --undo` removes the import\n")
	}
}

// leftOut describes the sessions that were not imported.
func leftOut(states map[importing.State]int) string {
	var parts []string
	for _, one := range []struct {
		state importing.State
		text  string
	}{
		{importing.Known, "imported before"},
		{importing.Recorded, "already recorded"},
		{importing.Empty, "empty, or copies of others"},
		{importing.Forgotten, "forgotten"},
	} {
		if n := states[one.state]; n > 0 {
			parts = append(parts, ui.Thousands(int64(n))+" "+one.text)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + strings.Join(parts, ", ")
}

// evidenceText describes what shows the links.
func evidenceText(evidence map[importing.Evidence]int) string {
	var parts []string
	for _, one := range []struct {
		evidence importing.Evidence
		text     string
	}{{importing.Shown, "shown in a conversation"}, {importing.Rewritten, "shown before a rewrite"}, {importing.Lines, "by their lines"}} {
		if n := evidence[one.evidence]; n > 0 {
			parts = append(parts, ui.Thousands(int64(n))+" "+one.text)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// printImported lists sessions and commits.
func printImported(a *app.App, done importing.Result) {
	if len(done.Sessions) > 0 {
		var t ui.Table
		t.AddRow("SESSION", "AGENT", "BEGAN", "TURNS", "COMMITS", "STATE")
		for _, s := range done.Sessions {
			t.AddRow(format.Session(s.ID), s.Agent.Name, ui.Since(a.Now(), s.Start), strconv.Itoa(s.Turns), strconv.Itoa(len(s.Commits)), string(s.State))
		}
		a.Streams.Printf("\n%s", t.String())
	}
	if len(done.Commits) > 0 {
		var t ui.Table
		t.AddRow("COMMIT", "LINES", "EVIDENCE", "SESSIONS", "SUBJECT")
		for _, c := range done.Commits {
			t.AddRow(c.Commit.OID.Short(), strconv.Itoa(c.Lines), string(c.Evidence), format.Sessions(c.Sessions), ui.Line(c.Commit.Subject(), format.NameWidth))
		}
		a.Streams.Printf("\n%s", t.String())
	}
	for _, u := range done.Unlinked {
		a.Streams.Printf("not linked: %s: %s\n", u.Commit.Short(), u.Reason)
	}
}

func itThem(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}
