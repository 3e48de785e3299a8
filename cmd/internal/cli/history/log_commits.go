package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/query"
)

// listCommits lists the checkpoints of this branch with their commits, the newest first.
func (l *log) listCommits(ctx context.Context) (err error) {
	if err := l.parseTimes(); err != nil {
		return err
	}
	repo, err := l.app.Repository()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	w := l.app.Workspace(repo)
	opts := explainOptions{outputFlags: l.outputFlags, session: l.filter.Session, agent: l.filter.Agent}
	if l.file != "" && repo.Root != "" {
		paths, err := app.TreePaths(repo.Root, l.app.Dir, []string{l.file})
		if err != nil {
			return err
		}
		if len(paths) > 0 {
			opts.path = paths[0]
		}
	}
	e := &explaining{App: l.app, opts: opts, reader: query.CheckpointReader{
		Repo: repo, Order: w.Options.Order, Index: func(ctx context.Context) (*index.Reader, error) { return query.CurrentIndex(ctx, w) },
	}}
	selects := func(p *query.ExplainPoint) bool {
		who := strings.ToLower(p.Author.Name + " " + p.Author.Email)
		return strings.Contains(who, strings.ToLower(l.filter.Person)) &&
			(l.filter.Since.IsZero() || !p.Date.Before(l.filter.Since)) && (l.filter.Until.IsZero() || p.Date.Before(l.filter.Until))
	}
	found, err := e.reader.List(ctx, e.filter())
	if err != nil {
		return err
	}
	var points []query.ExplainPoint
	for i := range found.Points {
		if p := &found.Points[i]; selects(p) && (!p.Temporary || l.filter.Person == "") {
			points = append(points, *p)
		}
	}
	more := max(0, len(points)-l.limit)
	points = points[:len(points)-more]
	if l.json {
		found.Points, e.found = points, &found
		return e.listJSON(ctx)
	}
	if len(points) == 0 {
		l.app.Streams.Notef("No commits with a checkpoint on this branch.")
		return l.noteMissing(ctx)
	}
	text := l.commitsText(points)
	if more > 0 {
		text += fmt.Sprintf("\n%s more: --all lists them, too.\n", strconv.Itoa(more))
	}
	l.show(l.app, text)
	return l.noteMissing(ctx)
}

// commitsText returns a table of commits, a row for each commit of a checkpoint.
func (l *log) commitsText(points []query.ExplainPoint) string {
	names := make([]string, len(points))
	for i := range points {
		names[i] = points[i].Author.Name
	}
	persons := format.HasSeveral(names...)
	table := &ui.Table{Spare: []string{"FILES", "AGENT", "PERSON"}}
	row := func(commit, when, id, agent, files, person, subject string) {
		cells := []string{commit, when, id, agent, files}
		if persons {
			cells = append(cells, person)
		}
		table.AddRow(append(cells, subject)...)
	}
	row("COMMIT", "WHEN", "CHECKPOINT", "AGENT", "FILES", "PERSON", "SUBJECT")
	now := l.app.Now()
	for i := range points {
		p := &points[i]
		agent, person := cmp.Or(ui.Line(p.Agent, format.NameWidth), "-"), cmp.Or(ui.Line(cmp.Or(p.Author.Name, p.Author.Email), format.PersonWidth), "-")
		files := strconv.Itoa(len(p.Files))
		if p.Temporary || len(p.Commits) == 0 {
			row("-", agoOf(now, p.Date), format.ID(p.ID), agent, files, person, "not committed: "+ui.Line(p.Prompt, format.LineWidth))
			continue
		}
		for _, c := range p.Commits {
			row(c.OID.Short(), ui.Ago(now, c.Committer.When), p.ID[:min(len(p.ID), len("a1b2c3d4e5f6"))], agent, files, person, ui.Line(plain.FirstLine(c.Message), format.LineWidth))
		}
	}
	return l.app.Streams.Table(table)
}
