package history

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/query"
)

func (e *explaining) list(ctx context.Context) error {
	if e.opts.json {
		return e.listJSON(ctx)
	}
	if e.found == nil {
		l, err := e.reader.List(ctx, e.filter())
		if err != nil {
			return err
		}
		e.found = &l
	}
	if e.opts.session != "" && len(e.found.Points) == 0 {
		if err := e.onlyElsewhere(ctx); err != nil {
			return err
		}
	}
	l, x := e.found, e.text()
	var b strings.Builder
	branch := ui.Line(l.Branch, format.NameWidth)
	switch {
	case l.Everywhere:
		branch = "all"
	case l.Branch == "":
		branch = "HEAD (detached)"
	}
	fmt.Fprintf(&b, "Branch: %s\nCheckpoints: %d\n", branch, len(l.Points))
	if e.opts.session != "" {
		fmt.Fprintf(&b, "Filtered by session: %s\n", ui.Line(e.opts.session, format.NameWidth))
	}
	if e.opts.path != "" {
		fmt.Fprintf(&b, "Filtered by file: %s\n", ui.Line(e.opts.path, format.NameWidth))
	}
	for _, p := range l.Points {
		x.writePoint(&b, p)
	}
	if len(l.Points) == 0 {
		b.WriteString("\nNo checkpoints found on this branch.\n")
	}
	absent := 0
	for _, p := range l.Points {
		if p.Absent {
			absent++
		}
	}
	if absent > 0 {
		fmt.Fprintf(&b, "\nContents of %s are not in this clone.\n  hint: %s\n", ui.Plural(absent, "checkpoint"), format.AbsentHint)
	}
	if l.More {
		fmt.Fprintf(&b, "\nOnly the latest %d are listed; --session or --commit shows others.\n", query.MaxListed)
	}
	if l.Shallow && !l.More {
		b.WriteString("\nThis clone is shallow: checkpoints of earlier commits are not listed.\n  hint: " + format.DeepenHint + "\n")
	}
	if n := len(l.Missing); n > 0 {
		fmt.Fprintf(&b, "\nNamed by commits, but missing or unreadable: %s (%s).\n  hint: %s\n", ui.Plural(n, "checkpoint"), namesOf(l.Missing), fetchHint)
	}
	e.opts.show(e.App, b.String())
	return nil
}

func (e *explaining) filter() query.CheckpointFilter {
	return query.CheckpointFilter{Session: e.opts.session, Agent: app.AgentLabel(e.opts.agent), Path: e.opts.path}
}

// listJSON prints the list as JSON: each checkpoint before the next is read.
func (e *explaining) listJSON(ctx context.Context) error {
	var l *query.CheckpointList
	return e.Streams.JSONList(ui.JSONList{
		Key: "checkpoints",
		Before: func() any {
			return explainHeadJSON{Branch: l.Branch, Session: e.opts.session}
		},
		Entries: func(yield func(any, error) bool) {
			if e.found == nil {
				opened, points, err := e.reader.Open(ctx, e.filter())
				if err != nil {
					yield(nil, err)
					return
				}
				l = opened
				none := true
				for p, err := range points {
					none = false
					if !yield(newExplainPoint(&p), err) {
						return
					}
				}
				if e.opts.session == "" || !none {
					return
				}
				if err := e.onlyElsewhere(ctx); err != nil {
					yield(nil, err)
					return
				}
			}
			l = e.found
			for _, p := range e.found.Points {
				if !yield(newExplainPoint(&p), nil) {
					return
				}
			}
		},
		After: func() any {
			return explainEndJSON{Missing: format.NotNil(l.Missing), Shallow: l.Shallow}
		},
	})
}

// onlyElsewhere calls sessionElsewhere for the session of --session, after nothing was found on
// this branch. It fails if there is no such session.
func (e *explaining) onlyElsewhere(ctx context.Context) error {
	found, err := e.sessionElsewhere(ctx, e.opts.session)
	if err == nil && !found {
		return app.WithHint(fmt.Errorf("no checkpoint of a session %q", e.opts.session), "`entire log --sessions` lists the sessions")
	}
	return err
}

// sessionElsewhere reads the checkpoints of the session whose id begins with prefix from all
// branches into e.found. It returns false if there is no such session.
func (e *explaining) sessionElsewhere(ctx context.Context, prefix string) (bool, error) {
	if !mayBeSession(prefix) {
		return false, nil
	}
	named, err := e.App.Sessions(e.reader.Repo).Find(ctx, prefix)
	switch {
	case err != nil || len(named) == 0:
		return false, err
	case len(named) > 1:
		return false, ambiguousSession(prefix, named)
	case len(named[0].Checkpoints) == 0:
		return false, app.WithHint(fmt.Errorf("session %s has no commit yet", named[0].ID), "`entire rewind --list` lists its turns, `entire resume "+prefix+"` continues it")
	}
	l, err := e.reader.OfSession(ctx, named[0].Checkpoints)
	e.opts.session, e.found = named[0].ID, &l
	return true, err
}

// namesOf lists the first ids.
func namesOf(ids []checkpoint.ID) string {
	const most = 5
	var b strings.Builder
	for i, id := range ids {
		if i == most {
			b.WriteString(", ...")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(id))
	}
	return b.String()
}

func (x explainText) writePoint(b *strings.Builder, p query.ExplainPoint) {
	id, marks := "["+p.ID+"]", ""
	if p.Task {
		marks += " [Task]"
	}
	if p.Temporary {
		id, marks = "["+format.ID(p.ID)+"]", marks+" [temporary]"
	}
	b.WriteString("\n" + x.Streams.Paint(ui.Yellow, id) + marks)
	if prompt := ui.Line(p.Prompt, x.Streams.Room(format.ListedWidth, len(id+marks+` ""`))); prompt != "" {
		b.WriteString(` "` + prompt + `"`)
	}
	b.WriteByte('\n')
	var facts []string
	if author := ui.Line(cmp.Or(p.Author.Name, p.Author.Email), format.NameWidth); author != "" {
		facts = append(facts, author)
	}
	if len(p.Files) > 0 {
		facts = append(facts, ui.Plural(len(p.Files), "file"))
	}
	if n := allTokens(p.Tokens); n > 0 {
		facts = append(facts, ui.Count(n)+" tokens")
	}
	if p.Attribution != nil {
		if wrote := format.WrittenBy(*p.Attribution); wrote != "" {
			facts = append(facts, wrote)
		}
	}
	if model := ui.Line(p.Model, format.NameWidth); model != "" {
		facts = append(facts, model)
	}
	if len(facts) > 0 {
		b.WriteString("  " + x.Streams.Paint(ui.Dim, strings.Join(facts, ", ")) + "\n")
	}
	for _, c := range p.Commits {
		when := c.Committer.When.In(x.Now().Location()).Format("01-02 15:04")
		commit := fmt.Sprintf("  %s (%s) ", when, c.OID.Short())
		b.WriteString(commit + ui.Line(plain.FirstLine(c.Message), x.Streams.Room(format.SubjectWidth, len(commit))) + "\n")
	}
}
