package health

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
	"github.com/seed-3aff656d/entire/strategy/doctor"
	"github.com/seed-3aff656d/entire/strategy/forget"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// redactStored is redact with --scan or --apply.
type redactStored struct {
	*app.App

	scan, apply, force, json bool
}

// storedSecret is the place of a secret in a stored checkpoint.
type storedSecret struct {
	Checkpoint checkpoint.ID `json:"checkpoint"`
	File       string        `json:"file"`
	Line       int           `json:"line"`
	Rule       string        `json:"rule"`
	Length     int           `json:"length"`

	text string
}

// scanJSON is the output of `redact --scan --json`; docs/formats/forget.md describes it.
type scanJSON struct {
	Checkpoints int            `json:"checkpoints"`
	Findings    []storedSecret `json:"findings"`
	NotSearched []string       `json:"not_searched"`

	// searched are the checkpoints that were searched as a whole.
	searched []checkpoint.Located
}

func (c *redactStored) run(ctx context.Context) (err error) {
	repo, err := c.Repository()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	found, err := c.search(ctx, repo)
	if err != nil {
		return err
	}
	if !c.apply {
		return c.report(found)
	}
	w := c.Workspace(repo)
	what := forget.What{RecordsOnly: true}
	for _, s := range found.Findings {
		if canBeMasked(s.text) && !slices.Contains(what.Secrets, s.text) {
			what.Secrets = append(what.Secrets, s.text)
		}
	}
	if len(what.Secrets) == 0 {
		if !forget.IsInterrupted(repo.CommonDir) {
			return errors.Join(c.raise(ctx, w, found), c.report(found))
		}
		// The values are no longer in the checkpoints, and are known by the hashes in the list of
		// forgotten texts.
		what.Listed = true
	}
	const most = 200 // values: the branch lists at most 4,096 forms of texts
	if n := len(what.Secrets); n > most {
		c.Streams.Notef("Only the first %d of %d values are replaced; run the command again for the rest.", most, n)
		what.Secrets = what.Secrets[:most]
	}
	if err := runForgetJob(ctx, c.App, forgetOptions{force: c.force, json: c.json}, forgetJob{w: w, what: what}); err != nil {
		return err
	}
	if found, err = c.search(ctx, repo); err == nil {
		err = c.raise(ctx, w, found)
	}
	if err != nil || c.json {
		return err
	}
	if len(found.Findings) > 0 {
		c.Streams.Printf("\nStill in the checkpoints:\n")
	}
	return c.report(found)
}

// raise records in the checkpoints that were searched that today's rules have masked them, unless they
// still have a secret that can be masked.
func (c *redactStored) raise(ctx context.Context, w *workspace.Workspace, found scanJSON) error {
	if slices.ContainsFunc(found.Findings, func(s storedSecret) bool { return canBeMasked(s.text) }) {
		return nil
	}
	n, err := forget.RaiseRules(ctx, w, found.searched)
	if n > 0 && !c.json {
		c.Streams.Printf("%s Marked %s as masked by the current rules\n", c.Streams.Paint(ui.Green, "✓"), ui.Plural(n, "checkpoint"))
	}
	return err
}

// search lists what today's rules would replace in the checkpoints.
func (c *redactStored) search(ctx context.Context, repo *git.Repo) (scanJSON, error) {
	const noLimit = 1 << 62 // of a file's size, which is not of interest
	audit := doctor.Audit{Repo: repo, Order: c.Workspace(repo).Options.Order, Redact: redact.New().WithFilesOf(repo.Root), All: true, MaxSize: noLimit}
	var result doctor.Audited
	err := c.Streams.Count("Searching, checkpoint", func(tick func(done, total int64)) (err error) {
		audit.Progress = tick
		result, err = audit.Run(ctx)
		return err
	})
	found := scanJSON{Checkpoints: result.Checkpoints, Findings: []storedSecret{}, NotSearched: []string{}}
	partly := map[checkpoint.ID]bool{}
	for _, p := range result.Problems {
		for _, s := range p.Secrets {
			found.Findings = append(found.Findings, storedSecret{p.Checkpoint, p.File, s.Line, s.Rule, s.Length, s.Text})
		}
		if p.Code == doctor.NotExamined || p.Code == doctor.AbsentContent {
			found.NotSearched = append(found.NotSearched, string(p.Checkpoint)+"/"+p.File)
			partly[p.Checkpoint] = true
		}
	}
	found.searched = slices.DeleteFunc(result.Searched, func(l checkpoint.Located) bool { return partly[l.ID] })
	return found, err
}

// canBeMasked reports whether a secret can be forgotten as a text: redaction replaces short values
// and ordinary words only beside their names, and a text in the form of an id could be one that the
// records need.
func canBeMasked(text string) bool {
	const least, shortestID = 8, 32
	isID := len(text) >= shortestID && strings.Trim(text, "0123456789abcdef-") == ""
	return len(text) >= least && !isID && ownrules.HasMixture([]byte(text))
}

// report prints what was found. It returns an error if that is something.
func (c *redactStored) report(found scanJSON) error {
	if c.json {
		if err := c.Streams.JSONOf(found, "findings"); err != nil {
			return err
		}
	} else {
		c.PageText(func(w ui.Streams) { printStored(w, found) })
	}
	if len(found.Findings)+len(found.NotSearched) > 0 {
		return app.ErrFailed
	}
	return nil
}

func printStored(w ui.Streams, found scanJSON) {
	if len(found.Findings) > 0 {
		t := &ui.Table{Cut: "FILE"}
		t.AddRow("CHECKPOINT", "FILE", "LINE", "RULE", "BYTES")
		for _, s := range found.Findings {
			t.AddRow(string(s.Checkpoint), format.Path(s.File), strconv.Itoa(s.Line), s.Rule, strconv.Itoa(s.Length))
		}
		w.Printf("%s\n", w.Table(t))
	}
	for _, place := range found.NotSearched {
		w.Printf("Not searched, missing or too large: %s\n", format.Path(place))
	}
	switch n := len(found.Findings); n {
	case 0:
		w.Printf("The current rules would replace nothing in %s.\n", ui.Plural(found.Checkpoints, "checkpoint"))
	default:
		w.Printf("The current rules would replace %s in %s.\n", ui.Plural(n, "text"), ui.Plural(found.Checkpoints, "checkpoint"))
		w.Printf("Revoke these secrets, then run `entire redact --apply`. It leaves some values unmasked:\n`entire forget --checkpoint ID` removes those.\n")
	}
}
