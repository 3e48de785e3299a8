package cli

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/ui"
	"github.com/seed-3aff656d/entire/strategy"
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
}

func newPointJSON(p strategy.Point) pointJSON {
	j := pointJSON{
		ID: p.ID, Message: p.Message, MetadataDir: p.MetadataDir, Date: p.Date.Truncate(time.Second),
		IsTask: p.TaskID != "", ToolUseID: p.TaskID, IsLogsOnly: p.LogsOnly(), Condensation: string(p.Checkpoint),
		SessionID: p.Session, SessionPrompt: p.Prompt, Commit: string(p.Commit),
	}
	if p.Snapshot != 0 {
		j.Snapshot, j.Cause, j.Late = p.Snapshot.String(), string(p.Cause), p.Late
	}
	return j
}

// list prints the points and nothing else: callers read both streams.
func (w *rewinding) list(ctx context.Context) error {
	points, err := w.rec.Points(ctx)
	if err != nil {
		return err
	}
	list := make([]pointJSON, 0, len(points))
	for _, p := range points {
		list = append(list, newPointJSON(p))
	}
	e := json.NewEncoder(w.Streams.Out)
	e.SetIndent("", "  ")
	return e.Encode(list)
}

// choose lets a person pick a point, shows what going there would change, and
// goes there if that is wanted.
func (w *rewinding) choose(ctx context.Context) error {
	points, err := w.rec.Points(ctx)
	if err != nil {
		return err
	}
	if len(points) == 0 {
		w.Streams.Printf("No points to go back to yet: a turn or `entire fs checkpoint create` makes one.\n")
		return nil
	}
	options := make([]ui.Option, 0, len(points)+1)
	for i, p := range points {
		options = append(options, ui.Option{Label: w.label(p), Value: points[i].ID})
	}
	options = append(options, ui.Option{Label: "Cancel", Value: ""})
	answers, err := w.ask.Ask(ctx, ui.Question{Title: "Go back to", Flag: "--to", Options: options})
	if err != nil {
		return err
	}
	for _, p := range points {
		if p.ID == answers[0] && answers[0] != "" {
			return w.confirm(ctx, p)
		}
	}
	return ui.ErrAborted
}

// label is a line of the list of points.
func (w *rewinding) label(p strategy.Point) string {
	const width = 60
	name := short(p.ID)
	if p.Snapshot != 0 {
		name = p.Snapshot.String()
	}
	kind := ""
	switch {
	case p.LogsOnly():
		kind = "  [logs only]"
	case p.Checkpoint != "":
		kind = "  [commit " + p.Commit.Short() + "]"
	}
	return strings.TrimRight(name+strings.Repeat(" ", max(1, 9-len(name)))+ui.Ago(w.Now(), p.Date)+"  "+ui.Line(p.Message, width)+kind, " ")
}

// confirm shows a point and asks what of it is to come back.
func (w *rewinding) confirm(ctx context.Context, p strategy.Point) error {
	if !p.LogsOnly() {
		if err := w.preview(ctx, p); err != nil {
			return err
		}
	}
	answers, err := w.ask.Ask(ctx, ui.Question{Title: "What should come back?", Flag: "--to", Options: scopesOf(p)})
	if err != nil {
		return err
	}
	switch answers[0] {
	case "":
		return ui.ErrAborted
	case "code":
		w.opts.code = true
	case "talk":
		w.opts.conversation = true
	case "logs":
		w.opts.logsOnly = true
	case "reset":
		w.opts.reset = true
	}
	return w.goTo(ctx, p)
}

// scopesOf are the answers to what of a point should come back.
func scopesOf(p strategy.Point) []ui.Option {
	cancel := ui.Option{Label: "Cancel", Value: ""}
	switch {
	case p.LogsOnly():
		return []ui.Option{{Label: "Restore the transcripts", Value: "logs"}, {Label: "Reset the branch to this commit (git reset --hard)", Value: "reset"}, cancel}
	case p.Snapshot == 0:
		return []ui.Option{{Label: "Restore the files of the session", Value: "all"}, cancel}
	default:
		return []ui.Option{
			{Label: "Restore the whole tree", Value: "all"},
			{Label: "Restore only what agents changed", Value: "code"},
			{Label: "Restore the whole tree and the conversation", Value: "talk"},
			cancel,
		}
	}
}
