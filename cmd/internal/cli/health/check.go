package health

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/doctor"
	"github.com/seed-3aff656d/entire/strategy/query"
)

// checking is one run of check.
type checking struct {
	*app.App

	maxSize     string
	fetch, json bool
}

// NewCheck returns the command that checks the checkpoints of a range of commits.
func NewCheck(a *app.App) *cobra.Command {
	c := &checking{App: a}
	cmd := &cobra.Command{
		Use:        "check [RANGE...]",
		SuggestFor: []string{"audit", "lint", "scan"},
		Short:      "Check the checkpoints of commits before sharing them",
		Long: `Checks the checkpoints that the commits of a range name. The range is as for git
log; the default is HEAD and everything before it. It reports

  commits whose checkpoint is missing or can't be read
  commits of the range that are not in this clone
  sessions without a transcript
  secrets that the current rules mask
  files larger than --max-size

It only needs a clone with the checkpoints, as in a CI job, and writes nothing.
Contents missing from a partial clone are reported; --fetch fetches them. To check
and repair all records, use ` + "`entire doctor`" + `.

With --json it prints one object; see docs/formats/doctor.md.

EXIT STATUS
  0  no problems
  1  problems found, or failure
  2  wrong usage`,
		Example: `  entire check
  entire check origin/main..HEAD
  entire check --fetch --max-size 10MB --json origin/main..HEAD`,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE:        func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&c.maxSize, "max-size", "50MB", "report files larger than this")
	f.BoolVar(&c.fetch, "fetch", false, "fetch missing objects from the remote first")
	setup.JSONFlags(a, f, &c.json)
	cmd.ValidArgsFunction = setup.Arguments(a, setup.Branches)
	return cmd
}

func (c *checking) run(ctx context.Context, revs []string) (err error) {
	size, err := settings.ParseSize(c.maxSize)
	if err != nil {
		return app.Usagef("--max-size %s: %v", ui.Line(c.maxSize, format.NameWidth), err)
	}
	repo, err := c.Repository()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	audit := doctor.Audit{Repo: repo, Order: c.Workspace(repo).Options.Order, Redact: redact.New().WithFilesOf(repo.Root), Range: revs, MaxSize: size}
	if c.fetch {
		audit.Fetch = func(ctx context.Context, missing []git.OID) error { return c.FetchObjects(ctx, repo, missing) }
	}
	var result doctor.Audited
	err = c.Streams.Count("Checking, checkpoint", func(tick func(done, total int64)) (err error) {
		audit.Progress = tick
		result, err = audit.Run(ctx)
		return err
	})
	if e, ok := errors.AsType[*git.ExitError](err); ok && e.Subcommand() == "log" && ctx.Err() == nil {
		return app.WithHint(fmt.Errorf("%s: no such commits in this clone", ui.Line(strings.Join(revs, " "), format.NameWidth)),
			format.HintWithGaps(ctx, repo, "give a range as for git log, such as origin/main..HEAD; a CI job may have to fetch it first"))
	}
	if err != nil {
		return err
	}
	if c.json {
		err = c.Streams.JSONOf(checkJSON{
			OK: len(result.Problems) == 0, Commits: result.Commits, Checkpoints: result.Checkpoints, Files: result.Files, Bytes: result.Bytes, MaxSize: size,
			Findings: format.NotNil(result.Problems),
		}, "findings")
		if err != nil {
			return err
		}
	} else {
		c.PageText(func(w ui.Streams) { printProblems(w, &result) })
	}
	if len(result.Problems) == 0 {
		return nil // all of the range was checked
	}
	if gaps, err := (query.CheckpointReader{Repo: repo}).Gaps(ctx); err == nil && len(gaps) > 0 {
		what, hint := format.Gaps(gaps)
		c.Streams.Notef("Not everything was checked: %s.", what)
		c.Streams.Hint(hint)
	}
	return app.ErrFailed
}

// checkJSON is the output of `check --json`; docs/formats/doctor.md describes it.
type checkJSON struct {
	OK          bool             `json:"ok"`
	Commits     int              `json:"commits"`
	Checkpoints int              `json:"checkpoints"`
	Files       int              `json:"files"`
	Bytes       int64            `json:"bytes"`
	MaxSize     int64            `json:"max_size"`
	Findings    []doctor.Problem `json:"findings"`
}

func printProblems(w ui.Streams, r *doctor.Audited) {
	examined := fmt.Sprintf("%s of %s, %s", ui.Plural(r.Checkpoints, "checkpoint"), ui.Plural(r.Commits, "commit"), format.Size(r.Bytes))
	if len(r.Problems) == 0 {
		w.Printf("Nothing found in %s.\n", examined)
		return
	}
	const most = 3 // lines with secrets to list
	t := &ui.Table{Spare: []string{"FILE"}}
	t.AddRow("COMMIT", "CHECKPOINT", "FOUND", "FILE", "WHAT")
	for _, p := range r.Problems {
		file := "-"
		if p.File != "" {
			file = format.Path(p.File)
		}
		var lines []string
		for _, s := range p.Secrets[:min(len(p.Secrets), most)] {
			lines = append(lines, strconv.Itoa(s.Line))
		}
		if len(p.Secrets) > most {
			lines = append(lines, "...")
		}
		what := p.What
		if len(lines) > 0 {
			what += " (line " + strings.Join(lines, ", ") + ")"
		}
		t.AddRow(p.Commit.Short(), cmp.Or(string(p.Checkpoint), "-"), p.Code, file, ui.Line(what, format.LineWidth))
	}
	w.Printf("%s\n", w.Table(t))
	// The reason and the hint of equal problems are printed once.
	type text struct{ code, why, hint string }
	seen := map[text]bool{}
	for _, p := range r.Problems {
		key := text{p.Code, p.Why, p.Hint}
		if seen[key] {
			continue
		}
		seen[key] = true
		w.Printf("%s: %s\n", p.Code, ui.Line(p.Why, format.LineWidth))
		if p.Hint != "" {
			w.Printf("  hint: %s\n", p.Hint)
		}
	}
	w.Printf("\n%s found in %s.\n", ui.Plural(len(r.Problems), "problem"), examined)
}
