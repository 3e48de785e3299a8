package rewindcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/points"
)

// pointJSON is a point as `rewind --list` prints it: the fields of the existing
// tool, and behind them ours. docs/formats/rewind.md describes it.
type pointJSON struct {
	ID            string    `json:"id"`
	Message       string    `json:"message"`
	MetadataDir   string    `json:"metadata_dir"`
	Date          time.Time `json:"date"`
	IsTask        bool      `json:"is_task_checkpoint"`
	ToolUseID     string    `json:"tool_use_id,omitempty"`
	IsLogsOnly    bool      `json:"is_logs_only"`
	Condensation  string    `json:"condensation_id,omitempty"`
	SessionID     string    `json:"session_id,omitempty"`
	SessionPrompt string    `json:"session_prompt,omitempty"`

	Snapshot string `json:"snapshot,omitempty"`
	Cause    string `json:"snapshot_cause,omitempty"`
	Late     bool   `json:"snapshot_late,omitempty"`
	Commit   string `json:"commit,omitempty"`
	// Unreadable is why a commit's checkpoint can't be read.
	Unreadable string `json:"unreadable,omitempty"`
	// Interrupted is the point to which a rewind was interrupted after this one.
	Interrupted string `json:"interrupted_rewind,omitempty"`
}

func newPointJSON(p points.Point) pointJSON {
	j := pointJSON{
		ID: p.ID, Message: p.Message, MetadataDir: p.MetadataDir, Date: p.Date.Truncate(time.Second),
		IsTask: p.TaskID != "", ToolUseID: p.TaskID, IsLogsOnly: p.LogsOnly(), Condensation: string(p.Checkpoint),
		SessionID: p.Session, SessionPrompt: p.Prompt, Commit: string(p.Commit),
		Unreadable: p.Unreadable,
	}
	if p.Snapshot != 0 {
		j.Snapshot, j.Cause, j.Late = p.Snapshot.String(), string(p.Cause), p.Late
	}
	return j
}

// picker lists the points of a rewind and lets a person choose one.
type picker struct{ *rewinding }

// list prints the points and nothing else: callers read both streams. On a terminal it
// prints a table, else JSON.
func (pi *picker) list(ctx context.Context) error {
	most := points.MaxPoints
	if pi.opts.all {
		most = points.AllPoints
	}
	points, err := pi.rec.Points().Points.Points(ctx, most)
	if err != nil {
		return err
	}
	if pi.Streams.Terminal.Out && !pi.opts.json {
		pi.table(points, !pi.opts.all && len(points) == most)
		return nil
	}
	list := make([]pointJSON, 0, len(points))
	for _, p := range points {
		list = append(list, newPointJSON(p))
	}
	if len(list) > 0 { // the newest is the rescue of what was interrupted
		list[0].Interrupted, _ = app.InterruptedRewind(pi.repo)
	}
	return pi.Streams.Show(func(out io.Writer) error {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(list)
	})
}

// table prints the points for a person; more reports that there may be others.
func (pi *picker) table(list []points.Point, more bool) {
	if len(list) == 0 {
		pi.Streams.Notef("%s", noPoints)
		return
	}
	var table ui.Table
	table.Row("POINT", "WHEN", "WHAT", "SESSION", "PROMPT OR MESSAGE")
	for _, p := range list {
		session := "-"
		if p.Session != "" {
			session = format.Session(p.Session)
		}
		table.Row(nameOf(p), ui.Ago(pi.Now(), p.Date), whatOf(p), session, ui.Line(titleOf(p), format.LineWidth))
	}
	text := pi.Streams.Table(&table, format.SubjectWidth)
	if more {
		text += "\nThere may be more: `entire rewind --list --all` lists them.\n"
	}
	pi.Page(text)
}

// noPoints is what a list without points says.
const noPoints = "No points to go back to yet: a turn or `entire fs checkpoint create` makes one."

// nameOf is what --to takes: the snapshot, where there is one.
func nameOf(p points.Point) string {
	if p.Snapshot != 0 {
		return p.Snapshot.String()
	}
	return format.ID(p.ID)
}

// whatOf is which moment a point is.
func whatOf(p points.Point) string {
	switch {
	case p.LogsOnly():
		return "commit " + p.Commit.Short() + ", transcripts only"
	case p.Checkpoint != "" || p.Cause == bands.Commit:
		return "commit " + p.Commit.Short()
	case p.TaskID != "":
		return "task"
	case p.Cause == bands.Prompt:
		return "before a turn"
	case p.Cause == bands.Rescue:
		return "before a rewind"
	case p.Cause == bands.Named:
		return "named"
	case p.Session == "":
		return "snapshot"
	}
	return "after a turn"
}

// titleOf is what a person knows a point by: the prompt of a turn, else the message.
func titleOf(p points.Point) string {
	isTurn := p.Cause == bands.Prompt || p.Cause == bands.Auto || p.Snapshot == 0 && p.Shadow != ""
	if isTurn && p.Prompt != "" && p.Checkpoint == "" && p.TaskID == "" {
		return p.Prompt
	}
	return p.Message
}

// pickedPoints is how many points a person chooses from.
const pickedPoints = 200

// answerRescues is the answer that shows the moments before rewinds.
const answerRescues = "rescues"

// choose lets a person pick a point, shows what going there would change, and
// goes there if that is wanted. The moments before rewinds are behind one line.
func (pi *picker) choose(ctx context.Context) error {
	all, err := pi.rec.Points().Points.Points(ctx, pickedPoints)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		pi.Streams.Printf("%s\n", noPoints)
		return nil
	}
	isRescue := func(p points.Point) bool { return p.Cause == bands.Rescue }
	options := pi.options(all, func(p points.Point) bool { return !isRescue(p) })
	rescues := pi.options(all, isRescue)
	if len(rescues) > 0 {
		options = append(options, ui.Option{Label: ui.Plural(len(rescues), "moment") + " before a rewind or an undo ...", Value: answerRescues})
	}
	options = append(options, ui.Option{Label: "Cancel", Value: ""})
	chosen := func(answers []string) (points.Point, bool) {
		if answers[0] == answerRescues {
			return pointWith(all, answers[1])
		}
		return pointWith(all, answers[0])
	}
	seen := map[string]string{}
	answers, err := pi.Prompter.Ask(ctx, ui.Question{Title: "Go back to", Flag: "--to", Options: options}, ui.Question{
		Title: "Go back to", Flag: "--to",
		Then: func(earlier []string) (string, []ui.Option) {
			if earlier[0] != answerRescues {
				return "", nil
			}
			return "", append(rescues, ui.Option{Label: "Cancel", Value: ""})
		},
	}, ui.Question{
		Title: "What should come back?", Flag: "--to",
		Then: func(earlier []string) (string, []ui.Option) {
			p, ok := chosen(earlier)
			if !ok {
				return "", nil
			}
			if _, known := seen[p.ID]; !known {
				seen[p.ID] = pi.glance(ctx, p)
			}
			return seen[p.ID], scopesOf(p)
		},
	}, ui.Question{
		Title: "Go on?", Flag: "--force",
		Then: func(earlier []string) (string, []ui.Option) {
			p, ok := chosen(earlier)
			if !ok || earlier[2] == "" || earlier[2] == answerCancel || pi.opts.force {
				return "", nil
			}
			quiet, _ := pi.quiet()
			quiet.chooseScope(earlier[2])
			q, err := quiet.questionAbout(ctx, p)
			if err != nil { // the rewind fails with the same error
				return "", nil
			}
			return q.Help, q.Options
		},
	})
	if err != nil {
		return err
	}
	p, ok := chosen(answers)
	if !ok || answers[2] == "" || answers[2] == answerCancel {
		return ui.ErrAborted
	}
	if err := pi.take(answers[3]); err != nil {
		return err
	}
	pi.chooseScope(answers[2])
	pi.confirmed = true
	return pi.goTo(ctx, p)
}

// options are the points that are wanted, to choose from.
func (pi *picker) options(all []points.Point, wanted func(points.Point) bool) []ui.Option {
	var options []ui.Option
	for _, p := range all {
		if wanted(p) {
			options = append(options, ui.Option{Label: pi.label(p), Value: p.ID})
		}
	}
	return options
}

// quiet is the same run with nothing on the terminal, and what it would print.
func (pi *picker) quiet() (*rewinding, *bytes.Buffer) {
	var out bytes.Buffer
	quiet := *pi.rewinding
	silent := *pi.App
	silent.Streams.Out, silent.Streams.Err, silent.Streams.Terminal = &out, &out, ui.Terminal{}
	quiet.App = &silent
	return &quiet, &out
}

func pointWith(list []points.Point, id string) (points.Point, bool) {
	for _, p := range list {
		if p.ID == id && id != "" {
			return p, true
		}
	}
	return points.Point{}, false
}

// glance is the beginning of a preview: as much as leaves room for the choices below it.
func (pi *picker) glance(ctx context.Context, p points.Point) string {
	const (
		most   = 12
		least  = 3
		others = 11 // lines: the title, the choices, the keys
		frame  = 4  // columns
	)
	if p.LogsOnly() {
		return ""
	}
	quiet, out := pi.quiet()
	if err := quiet.preview(ctx, p); err != nil {
		return err.Error()
	}
	width, height := pi.Streams.Size()
	room := min(max(height-others, least), most)
	lines := strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
	if len(lines) > room {
		last := lines[len(lines)-1]
		lines = append(lines[:room-2], fmt.Sprintf("... and %d more lines", len(lines)-room+1), last)
	}
	for i := range lines {
		lines[i] = ui.Line(lines[i], max(width-frame, frame))
	}
	return strings.Join(lines, "\n")
}

// chooseScope sets the flags to the scope that a person chose.
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

// answerCancel is the answer of a person who wants nothing.
const answerCancel = "cancel"

// label is a line of the list of points.
func (pi *picker) label(p points.Point) string {
	return strings.TrimRight(fmt.Sprintf("%-8s %-9s %-15s %s", nameOf(p), ui.Ago(pi.Now(), p.Date), whatOf(p), ui.Line(titleOf(p), format.ListedWidth)), " ")
}

// scopesOf are the answers to what of a point should come back.
func scopesOf(p points.Point) []ui.Option {
	cancel := ui.Option{Label: "Cancel", Value: answerCancel}
	switch {
	case p.LogsOnly():
		return []ui.Option{{Label: "Restore the transcripts", Value: "logs"}, {Label: "Reset the branch to this commit (git reset --hard)", Value: "reset"}, cancel}
	case p.Snapshot == 0:
		return []ui.Option{{Label: "Restore the files of the session", Value: "all"}, cancel}
	}
	all := []ui.Option{{Label: "Restore the whole tree", Value: "all"}, {Label: "Restore only what agents changed", Value: "code"}}
	if p.Session != "" {
		all = append(all, ui.Option{Label: "Restore the whole tree and the conversation", Value: "talk"})
	}
	return append(all, cancel)
}
