package rewindcmd

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/cmd/internal/ui/browse"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

const (
	// pickedPoints is the number of points that are loaded at first.
	pickedPoints = 200
	// pickedPaths is the maximum number of changed paths of a point that the filter searches.
	pickedPaths = 2000
)

// choose lets the user pick a point and a scope, and rewinds to it.
func (pi *picker) choose(ctx context.Context) error {
	list, err := pi.points(ctx, pickedPoints)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		pi.Streams.Printf("%s\n", noPoints)
		return nil
	}
	var chosen browse.Result
	switch {
	case !pi.Prompter.Interactive():
		return &ui.NoTerminalError{Title: pickTitle, Flag: "--to"}
	case pi.Streams.Terminal.Accessible:
		chosen, err = pi.chooseInLines(ctx, list)
	default:
		chosen, err = browse.Run(ctx, pi.Streams, pi.page(&list))
	}
	if err != nil {
		return err
	}
	p, ok := pointWith(list, chosen.ID)
	if !ok {
		return ui.ErrAborted
	}
	if err := pi.take(chosen.Answer); err != nil {
		return err
	}
	pi.chooseScope(chosen.Choice)
	pi.confirmed = true
	return pi.goTo(ctx, p)
}

const pickTitle = "Go back to"

// page returns the picker on a whole screen. Points that are loaded later are stored in list.
func (pi *picker) page(list *[]rewind.Point) browse.Page {
	find := func(id string) rewind.Point {
		p, _ := pointWith(*list, id)
		return p
	}
	page := browse.Page{
		Title: pickTitle, Items: pi.items(*list),
		Preview: func(ctx context.Context, id string) string { return pi.glance(ctx, find(id)) },
		Words: func(ctx context.Context, id string) []string {
			paths, _ := rewind.ChangedFiles(ctx, pi.w, find(id), pickedPaths) // none for a damaged one
			return paths
		},
		Confirm: func(ctx context.Context, id, scope string) ui.Question {
			return pi.questionBefore(ctx, find(id), scope)
		},
	}
	if len(*list) == pickedPoints {
		page.More = func(ctx context.Context) ([]browse.Item, error) {
			all, err := pi.points(ctx, rewind.AllPoints)
			if err != nil {
				return nil, err
			}
			*list = all
			return pi.items(all), nil
		}
	}
	return page
}

// items returns the points below the prompts of their turns, and these below their sessions. The
// points before rewinds are folded into one line.
func (pi *picker) items(list []rewind.Point) []browse.Item {
	rescues := 0
	for _, p := range list {
		if p.Cause == bands.Rescue {
			rescues++
		}
	}
	items, taken := make([]browse.Item, len(list)), pi.takenBack()
	for i, p := range list {
		what := whatOf(p)
		if taken[p.Snapshot] {
			what = format.TakenBack + ": " + what
		}
		item := browse.Item{
			ID:      p.ID,
			Label:   fmt.Sprintf("%-6s %-9s %s", nameOf(p), ui.Ago(pi.Now(), p.Date), what),
			Words:   []string{p.Message, p.Date.Local().Format("2006-01-02 15:04 Monday January")},
			Choices: scopesOf(p),
		}
		title := ui.Line(titleOf(p), format.LineWidth)
		switch {
		case p.Cause == bands.Rescue:
			item.Fold = ui.Plural(rescues, "moment") + " before a rewind or an undo"
			item.Label += "  " + title
		case p.Session == "":
			item.Label += "  " + title
		default:
			item.Headings = []string{"Session " + format.Session(p.Session)}
			if p.Prompt != "" {
				title = ui.Line(p.Prompt, format.LineWidth)
			}
			item.Headings = append(item.Headings, title)
		}
		items[i] = item
	}
	return items
}

// chooseInLines asks on a terminal that only shows lines.
func (pi *picker) chooseInLines(ctx context.Context, list []rewind.Point) (browse.Result, error) {
	options, taken := make([]ui.Option, 0, len(list)+1), pi.takenBack()
	for _, p := range list {
		title := titleOf(p)
		if taken[p.Snapshot] {
			title = format.TakenBack + ": " + title
		}
		label := fmt.Sprintf("%-8s %-9s %-15s %s", nameOf(p), ui.Ago(pi.Now(), p.Date), whatOf(p), ui.Line(title, format.ListedWidth))
		options = append(options, ui.Option{Label: strings.TrimRight(label, " "), Value: p.ID})
	}
	cancel := ui.Option{Label: "Cancel"}
	answers, err := pi.Prompter.Ask(ctx, ui.Question{Title: pickTitle, Flag: "--to", Options: append(options, cancel)}, ui.Question{
		Title: "What should be restored?", Flag: "--to",
		Then: func(earlier []string) (string, []ui.Option) {
			p, ok := pointWith(list, earlier[0])
			if !ok {
				return "", nil
			}
			var scopes []ui.Option
			for _, c := range scopesOf(p) {
				scopes = append(scopes, ui.Option(c))
			}
			return pi.glance(ctx, p), append(scopes, cancel)
		},
	}, ui.Question{
		Title: "Go on?", Flag: "--force",
		Then: func(earlier []string) (string, []ui.Option) {
			p, ok := pointWith(list, earlier[0])
			if !ok || earlier[1] == "" {
				return "", nil
			}
			q := pi.questionBefore(ctx, p, earlier[1])
			return q.Help, q.Options
		},
	})
	if err != nil {
		return browse.Result{}, err
	}
	if answers[1] == "" {
		return browse.Result{}, ui.ErrAborted
	}
	return browse.Result{ID: answers[0], Choice: answers[1], Answer: answers[2]}, nil
}

// questionBefore returns the question to ask before a rewind to a point in the chosen scope.
func (pi *picker) questionBefore(ctx context.Context, p rewind.Point, scope string) ui.Question {
	if pi.opts.force {
		return ui.Question{}
	}
	quiet, _ := pi.quiet()
	quiet.chooseScope(scope)
	q, err := quiet.questionAbout(ctx, p)
	if err != nil { // the rewind fails with the same error
		return ui.Question{}
	}
	return q
}

// quiet returns a copy of the run that prints into a buffer, and the buffer.
func (pi *picker) quiet() (*rewinding, *bytes.Buffer) {
	var out bytes.Buffer
	quiet := *pi.rewinding
	silent := *pi.App
	silent.Streams.Out, silent.Streams.Err, silent.Streams.Terminal = &out, &out, ui.Terminal{}
	quiet.App = &silent
	return &quiet, &out
}

func pointWith(list []rewind.Point, id string) (rewind.Point, bool) {
	for _, p := range list {
		if p.ID == id && id != "" {
			return p, true
		}
	}
	return rewind.Point{}, false
}

// glance describes a point and what a rewind to it would change: the totals, then the deleted
// files, then the others.
func (pi *picker) glance(ctx context.Context, p rewind.Point) string {
	lines := []string{
		pi.Streams.Paint(ui.Bold, nameOf(p)) + ", " + whatOf(p) + ", " + p.Date.Local().Format("Mon 2 Jan 15:04"),
		ui.Line(titleOf(p), format.LineWidth), "",
	}
	quiet, out := pi.quiet()
	switch {
	case p.LogsOnly():
		lines = append(lines, "This commit has no snapshot: restore its transcripts, or reset the branch to it.")
	case p.Snapshot == 0:
		if err := quiet.preview(ctx, p); err != nil {
			return strings.Join(append(lines, err.Error()), "\n")
		}
	default:
		planned, err := quiet.planTo(ctx, p)
		if err != nil {
			return strings.Join(append(lines, err.Error()), "\n")
		}
		if planned.Empty() {
			lines = append(lines, nothingChanges(planned.Plan, "Nothing would change: the tree is the same as in "+nameOf(p)+"."))
		} else {
			taken, err := quiet.takesBack(ctx, p, &planned)
			if err != nil {
				return strings.Join(append(lines, err.Error()), "\n")
			}
			lines = append(lines, taken.lines(pi.Now(), false)...)
			lines = append(lines, summary(planned.Plan), "")
			for _, kind := range append([]restore.StepKind{restore.StepDelete}, stepKinds()[:len(stepKinds())-1]...) {
				for step := range planned.Steps(kind) {
					lines = append(lines, format.StepLine(pi.Streams, kind, step.Path))
				}
			}
			lines = append(lines, "")
		}
		quiet.reporter().noteBoth(planned, 0)
		quiet.reporter().noteLeft(planned)
	}
	return strings.Join(lines, "\n") + "\n" + out.String()
}

// chooseScope sets the flags of the scope that the user chose.
func (r *rewinding) chooseScope(scope string) {
	switch scope {
	case "code":
		r.opts.code = true
	case "talk":
		r.opts.conversation = true
	case "logs":
		r.opts.logsOnly = true
	case "reset":
		r.opts.reset = true
	}
}

// scopesOf returns the scopes in which a point can be restored.
func scopesOf(p rewind.Point) []browse.Choice {
	switch {
	case p.LogsOnly():
		return []browse.Choice{{Label: "Restore the transcripts", Value: "logs"}, {Label: "Reset the branch to this commit (git reset --hard)", Value: "reset"}}
	case p.Snapshot == 0:
		return []browse.Choice{{Label: "Restore the files of the session", Value: "all"}}
	}
	all := []browse.Choice{{Label: "Restore the whole tree", Value: "all"}, {Label: "Restore only what agents changed", Value: "code"}}
	if p.Session != "" {
		all = append(all, browse.Choice{Label: "Restore the whole tree and the conversation", Value: "talk"})
	}
	return all
}
