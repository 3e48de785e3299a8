package history

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/report"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/proc"
)

type reportCommand struct {
	turnQuery

	html, markdown string
	open           bool
}

// NewReport returns the command that writes a report of turns and commits.
func NewReport(a *app.App) *cobra.Command {
	c := &reportCommand{turnQuery: turnQuery{app: a}}
	cmd := &cobra.Command{
		Use:        "report [RANGE...]",
		SuggestFor: []string{"export", "page", "html"},
		Short:      "Write an HTML or Markdown report",
		Long: `Writes a self-contained HTML page, or Markdown for a pull request, by default Markdown to
standard output: what was asked, said and done in each turn, the commits and who wrote
their lines, rewinds, tokens and cost. It is redacted like the records.

With a range, as for git log, it covers those commits and their turns; otherwise the turns
that the flags select, and their commits. In a page of more than 5 MB, long texts and diffs
are cut, with the command that shows the rest.

EXIT STATUS
  0  written
  1  failure
  2  wrong usage`,
		Example: `  entire report main..HEAD
  entire report --html day.html --since today --open
  entire report --html session.html --session 3f2a9c1e
  entire report --md - origin/main..HEAD`,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE:        func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	const limit = 2000
	f := cmd.Flags()
	f.StringVar(&c.html, "html", "", "write HTML to this `file`, or - for standard output")
	f.StringVar(&c.markdown, "md", "", "write Markdown to this `file`, or - for standard output (the default)")
	f.BoolVar(&c.open, "open", false, "open the page in the browser; without --html it is a temporary file")
	c.addSelection(cmd)
	addLimit(cmd, &c.limit, limit, "at most this many turns and commits")
	cmd.ValidArgsFunction = setup.Arguments(a, setup.Branches)
	return cmd
}

// isRange reports whether the name of a file looks like a range of commits.
func isRange(name string) bool {
	from, to, isRange := strings.Cut(name, "..")
	return isRange && from+to != "" && !strings.ContainsAny(from, `/\.`) && (to == "" || !strings.ContainsAny(to, "/."))
}

func (c *reportCommand) run(ctx context.Context, revs []string) error {
	switch {
	case len(revs) == 1 && c.html+c.markdown == "" && slices.Contains([]string{".html", ".htm", ".md"}, filepath.Ext(revs[0])):
		flag := map[bool]string{true: "md", false: "html"}[filepath.Ext(revs[0]) == ".md"]
		return app.WithHint(app.Usagef("%s is no range of commits", ui.Line(revs[0], format.NameWidth)), "type entire report --"+flag+" "+revs[0])
	case c.html+c.markdown == "" && c.open:
		dir, err := os.MkdirTemp("", "entire-page-") // only the user can read it
		if err != nil {
			return fmt.Errorf("folder of the page: %w", err)
		}
		c.html = filepath.Join(dir, "report.html")
	case c.html+c.markdown == "":
		c.markdown = "-"
	}
	switch {
	case c.html == "-" && c.markdown == "-":
		return app.Usagef("--html and --md can't both be standard output")
	case c.open && (c.html == "" || c.html == "-"):
		return app.Usagef("--open needs --html FILE")
	case len(revs) == 0 && isRange(c.markdown), len(revs) == 0 && isRange(c.html):
		return app.WithHint(app.Usagef("a flag has a range in place of a file"), "type entire report --md - "+cmp.Or(c.markdown, c.html))
	case len(revs) > 0 && (c.filter != index.Filter{} || c.person.text() != "" || c.since != "" || c.until != "" || c.file != ""):
		return app.Usagef("a range and --session, --agent, --by, --branch, --file, --since or --until: only one of them")
	}
	table, err := loadPrices(c.app)
	if err != nil {
		return err
	}
	var made *report.Report
	err = c.ask(ctx, func(repo *git.Repo, r *index.Reader) error {
		w := c.app.Workspace(repo)
		cost := func(model string, t index.Tokens) (float64, bool) {
			p, found := table.of(model)
			return p.cost(t), found
		}
		err := c.app.Streams.Stages("Reading", func(reach func(string, int64, int64)) (err error) {
			made, err = report.Fill(ctx, w, r, report.Selection{Range: revs, Filter: c.filter, Limit: c.limit}, cost, reach)
			return err
		})
		if err != nil {
			return err
		}
		made.Name = report.RepositoryName(w)
		return nil
	})
	if e, ok := errors.AsType[*git.ExitError](err); ok && e.Subcommand() == "log" && ctx.Err() == nil {
		return app.WithHint(fmt.Errorf("%s: no such commits in this clone", ui.Line(strings.Join(revs, " "), format.NameWidth)),
			c.hintWithGaps(ctx, "give a range as for git log, such as main..HEAD"))
	}
	if err != nil {
		return err
	}
	if len(made.Turns) == 0 {
		if err := c.nothing(ctx, "The report has no turns."); err != nil {
			return err
		}
	}
	made.Made, made.Version = c.app.Now(), c.app.Version
	made.Prices = report.Prices{Date: table.Date, Currency: table.Currency}
	made.Selection = "All sessions"
	var parts []string
	for _, p := range [][2]string{
		{"session ", c.filter.Session}, {"agent ", c.filter.Agent}, {"by ", c.person.text()}, {"branch ", c.filter.Branch}, {"file ", c.file}, {"since ", c.since}, {"until ", c.until},
	} {
		if p[1] != "" {
			parts = append(parts, p[0]+p[1])
		}
	}
	if len(revs) > 0 {
		made.Selection = "Commits " + strings.Join(revs, " ")
	} else if len(parts) > 0 {
		made.Selection = format.Capitalize(strings.Join(parts, ", "))
	}
	if err := c.write(made); err != nil || len(made.Turns) == 0 || len(revs) > 0 { // of a range all may be here
		return err
	}
	return c.noteMissing(ctx)
}

func (c *reportCommand) write(made *report.Report) error {
	for _, f := range []struct {
		name   string
		render func(io.Writer, *report.Report) error
	}{{c.html, report.WriteHTML}, {c.markdown, report.WriteMarkdown}} {
		if f.name == "" {
			continue
		}
		var out bytes.Buffer
		if err := f.render(&out, made); err != nil {
			return err
		}
		if f.name == "-" {
			if _, err := c.app.Streams.Out.Write(out.Bytes()); err != nil {
				return err
			}
			continue
		}
		path := c.app.Absolute(f.name)
		if err := disk.WriteDurable(path, out.Bytes(), 0o644); err != nil {
			return err
		}
		c.app.Streams.Notef("Wrote %s: %s, %s, %s.", format.Path(f.name), ui.Plural(len(made.Turns), "turn"), made.CommitsText(), format.Size(int64(out.Len())))
	}
	if !c.open {
		return nil
	}
	path := c.app.Absolute(c.html)
	for _, program := range []string{"xdg-open", "open"} {
		if file, found := app.FindOnPath(c.app.Getenv, program); found {
			return proc.Detached{Path: file, Args: []string{path}, Dir: filepath.Dir(path), Env: c.app.Environ}.Start()
		}
	}
	return app.WithHint(errors.New("no program found to open pages"), "open "+filepath.ToSlash(path)+" in a browser")
}
