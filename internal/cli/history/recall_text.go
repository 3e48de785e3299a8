package history

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// itemWidth is how much of one step, decision or command is shown.
const itemWidth = 300

// contextText is a saved context as text for a person.
type contextText struct {
	out     strings.Builder
	streams ui.Streams
	now     time.Time
}

// checkpointText shows a saved context without the contents of its files.
func checkpointText(streams ui.Streams, now time.Time, c recall.Checkpoint) string {
	t := &contextText{streams: streams, now: now}
	t.facts(c)
	if text := strings.TrimSpace(ui.Text(c.Description)); text != "" {
		t.out.WriteString("\n" + text + "\n")
	}
	a := c.State.Analysis
	if a.CurrentTask != "" {
		t.items("Current task", []string{a.CurrentTask})
	}
	t.items("Next steps", a.NextSteps)
	t.items("Decisions", a.Decisions)
	t.items("Blockers", a.Blockers)
	t.items("Documents", a.RelevantDocs)
	t.files(c.State.Files)
	t.items("Files read", c.State.Context.FilesRead)
	t.commands(c.State.Context)
	if text := strings.TrimSpace(ui.Text(c.Compaction)); text != "" {
		t.out.WriteString("\n" + t.streams.Paint(ui.Bold, "Summary of the last compaction:") + "\n" + text + "\n")
	}
	t.items("Warnings", c.Warnings)
	fmt.Fprintf(&t.out, "\nA file's content: entire recall show %s --file <path>\nThe brief of it:  entire recall resume %s\n", c.ID, c.ID)
	return t.out.String()
}

// facts shows which, when, why, whose and where.
func (t *contextText) facts(c recall.Checkpoint) {
	fact := func(name, value string) {
		if value != "" {
			t.out.WriteString(t.streams.Paint(ui.Bold, name+":") + " " + value + "\n")
		}
	}
	id := c.ID
	if c.Status == recall.Pending {
		id += " " + t.streams.Paint(ui.Yellow, "(pending)")
	}
	fact("Checkpoint", id)
	fact("Summary", ui.Line(c.Summary, itemWidth))
	fact("Saved", c.CreatedAt.In(t.now.Location()).Format(time.DateTime)+" ("+ui.Ago(t.now, c.CreatedAt)+"), "+savedText(c.Cause))
	for _, id := range c.Sessions {
		id = ui.Line(id, format.NameWidth)
		fact("Session", id+" (entire resume "+id+")")
	}
	fact("Commits' checkpoints", ui.Line(strings.Join(c.Checkpoints, ", "), itemWidth))
	fact("Branch", placeText(c.State.Context))
	fact("Directory", format.Path(c.State.Context.WorkingDirectory))
	fact("Packages", ui.Line(strings.Join(c.State.Context.RelevantPackages, ", "), itemWidth))
	fact("Mode", fmt.Sprintf("%s, %s of contents", ui.Line(string(c.Mode), format.NameWidth), format.Size(c.State.TotalSize)))
	fact("Tags", ui.Line(strings.Join(c.Tags, ", "), itemWidth))
	fact("Conversation", conversationText(c))
}

// savedText describes why a checkpoint was saved, in a sentence.
func savedText(c recall.Cause) string {
	texts := map[recall.Cause]string{
		recall.Clear: "before the context was cleared", recall.Plan: "before the context was cleared for an accepted plan",
		recall.Compact: "before a compaction", recall.Exit: "at the end of the session", recall.Threshold: "as the context was nearly full",
		recall.Lost: "after the session was lost", recall.Requested: "as it was asked for",
	}
	if text, known := texts[c]; known {
		return text
	}
	return causeText(c)
}

// placeText is the branch and the commit that were checked out.
func placeText(in recall.Context) string {
	branch := ui.Line(in.GitBranch, format.NameWidth)
	if branch == "" {
		branch = "none"
	}
	if in.GitCommit == "" {
		return branch + ", before the first commit"
	}
	return branch + " at " + ui.Line(format.ID(in.GitCommit), format.NameWidth)
}

func conversationText(c recall.Checkpoint) string {
	var parts []string
	if c.Prompts > 0 {
		parts = append(parts, ui.Plural(c.Prompts, "prompt"))
	}
	if c.Tokens > 0 {
		parts = append(parts, ui.Thousands(c.Tokens)+" tokens of context")
	}
	return strings.Join(parts, ", ")
}

// items shows a list under its name, nothing if it is empty.
func (t *contextText) items(name string, items []string) {
	if len(items) == 0 {
		return
	}
	t.out.WriteString("\n" + t.streams.Paint(ui.Bold, name+":") + "\n")
	for _, item := range items {
		t.out.WriteString("  - " + ui.Line(item, itemWidth) + "\n")
	}
}

// files shows how each file was changed, and why a content is not kept.
func (t *contextText) files(files map[string]recall.File) {
	fmt.Fprintf(&t.out, "\n%s (%d)\n", t.streams.Paint(ui.Bold, "Files changed:"), len(files))
	var table ui.Table
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f := files[path]
		note, size := "", format.Size(f.Size)
		if f.Change == recall.Deleted {
			size = ""
		}
		if f.Omitted != "" && f.Change != recall.Deleted {
			note = "no content: " + ui.Line(string(f.Omitted), format.NameWidth)
		}
		table.Row("  "+ui.Line(string(f.Change), format.NameWidth), format.Path(path), linesText(f), size, note)
	}
	t.out.WriteString(table.String())
}

func linesText(f recall.File) string {
	if f.Added+f.Removed == 0 {
		return ""
	}
	return "+" + strconv.Itoa(f.Added) + " -" + strconv.Itoa(f.Removed)
}

// commands shows how the last commands ended.
func (t *contextText) commands(in recall.Context) {
	if len(in.Commands) == 0 {
		t.items("Recent commands", in.RecentCommands)
		return
	}
	t.out.WriteString("\n" + t.streams.Paint(ui.Bold, "Recent commands:") + "\n")
	var table ui.Table
	for _, c := range in.Commands {
		table.Row("  "+ui.Line(string(c.Result), format.NameWidth), ui.Line(c.Text, itemWidth))
	}
	t.out.WriteString(table.String())
}
