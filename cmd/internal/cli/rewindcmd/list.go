package rewindcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// pointJSON is a point in the output of `rewind --list`: the fields of the former Entire CLI, then
// ours. docs/formats/rewind.md describes it.
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
	Agent         string    `json:"agent,omitempty"`

	Snapshot string `json:"snapshot,omitempty"`
	Cause    string `json:"snapshot_cause,omitempty"`
	Late     bool   `json:"snapshot_late,omitempty"`
	Commit   string `json:"commit,omitempty"`
	// Unreadable is the reason why a commit's checkpoint can't be read.
	Unreadable string `json:"unreadable,omitempty"`
	// Interrupted is the target of an interrupted rewind that followed this point.
	Interrupted string `json:"interrupted_rewind,omitempty"`
}

// picker lists the points of a rewind and lets the user choose one.
type picker struct{ *rewinding }

// points returns the newest points, only those of an agent if --agent is given.
func (pi *picker) points(ctx context.Context, most int) ([]rewind.Point, error) {
	if pi.opts.agent == "" {
		return rewind.ListPoints(ctx, pi.w, most)
	}
	list, err := rewind.ListPoints(ctx, pi.w, rewind.AllPoints)
	list = slices.DeleteFunc(list, func(p rewind.Point) bool { return !app.MatchesAgent(pi.opts.agent, p.Agent) })
	return list[:min(len(list), most)], err
}

// list prints the points and nothing else, as callers read both streams: with --json as an object,
// else on a terminal as a table and in a pipe as the list that the former Entire CLI printed.
func (pi *picker) list(ctx context.Context) error {
	most := rewind.MaxPoints
	if pi.opts.all {
		most = rewind.AllPoints
	}
	list, err := pi.points(ctx, most)
	if err != nil {
		return err
	}
	if pi.Streams.Terminal.Out && !pi.opts.json {
		if len(list) == 0 {
			pi.Streams.Notef("%s", noPoints)
			return nil
		}
		table := ui.Table{Spare: []string{"SESSION"}}
		table.AddRow("POINT", "WHEN", "WHAT", "SESSION", "PROMPT OR MESSAGE")
		ids := make([]string, len(list))
		for i, p := range list {
			ids[i] = p.Session
		}
		short, taken := format.SessionNames(ids), pi.takenBack()
		for _, p := range list {
			session, title := cmp.Or(short(p.Session), "-"), titleOf(p)
			if taken[p.Snapshot] {
				title = format.TakenBack + ": " + title
			}
			table.AddRow(nameOf(p), ui.Ago(pi.Now(), p.Date), whatOf(p), session, ui.Line(title, format.LineWidth))
		}
		text := pi.Streams.Table(&table)
		if !pi.opts.all && len(list) == most {
			text += "\nThere may be more: `entire rewind --list --all` lists them.\n"
		}
		pi.Page(text)
		return nil
	}
	points := ui.JSONList{Entries: func(yield func(any, error) bool) {
		for i, p := range list {
			j := pointJSON{
				ID: p.ID, Message: p.Message, MetadataDir: p.MetadataDir, Date: p.Date.Truncate(time.Second),
				IsTask: p.TaskID != "", ToolUseID: p.TaskID, IsLogsOnly: p.LogsOnly(), Condensation: string(p.Checkpoint),
				SessionID: p.Session, SessionPrompt: p.Prompt, Agent: p.Agent, Commit: string(p.Commit),
				Unreadable: p.Unreadable,
			}
			if p.Snapshot != 0 {
				j.Snapshot, j.Cause, j.Late = p.Snapshot.String(), string(p.Cause), p.Late
			}
			if i == 0 { // the newest is the rescue of the interrupted rewind
				j.Interrupted, _ = app.InterruptedRewind(pi.repo)
			}
			var entry any
			var err error
			if pi.opts.json {
				j.Date = format.UTC(j.Date)
				entry = j
			} else { // with < and > escaped, as by the former Entire CLI
				var text []byte
				text, err = json.Marshal(j)
				entry = json.RawMessage(text)
			}
			if !yield(entry, err) {
				return
			}
		}
	}}
	if pi.opts.json {
		points.Key = "points"
	}
	return pi.Streams.JSONList(points)
}

// takenBack returns the snapshots whose work a rewind took back.
func (pi *picker) takenBack() map[bands.Version]bool {
	store, err := tracking.OpenStore(pi.w)
	if err != nil {
		return nil
	}
	return store.TakenBack()
}

// noPoints is the text for an empty list of points.
const noPoints = "No points to go back to yet: each turn creates one, and so does `entire snapshot create`."

// nameOf returns the name of a point for --to: that of its snapshot, if it has one.
func nameOf(p rewind.Point) string {
	if p.Snapshot != 0 {
		return p.Snapshot.String()
	}
	return format.ID(p.ID)
}

// whatOf describes the moment of a point.
func whatOf(p rewind.Point) string {
	switch {
	case p.LogsOnly():
		return "transcripts only"
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

// titleOf returns the title of a point: the prompt of a turn, else the message.
func titleOf(p rewind.Point) string {
	isTurn := p.Cause == bands.Prompt || p.Cause == bands.Auto || p.Snapshot == 0 && p.Shadow != ""
	if isTurn && p.Prompt != "" && p.Checkpoint == "" && p.TaskID == "" {
		return p.Prompt
	}
	return p.Message
}
