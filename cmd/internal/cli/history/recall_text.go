package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// itemWidth is the maximum width of a step, decision or command.
const itemWidth = 300

// checkpointText returns the text of a saved context without the contents of its files.
func (r *recalling) checkpointText(c recall.Checkpoint) string {
	var out strings.Builder
	r.writeFacts(&out, c)
	heading := func(name string) { out.WriteString("\n" + r.Streams.Paint(ui.Bold, name+":") + "\n") }
	items := func(name string, items []string) {
		if len(items) > 0 {
			heading(name)
		}
		for _, item := range items {
			out.WriteString("  - " + ui.Line(item, itemWidth) + "\n")
		}
	}
	if text := strings.TrimSpace(plain.Prose(c.Description)); text != "" {
		out.WriteString("\n> " + plain.Quote(text, "") + "\n")
	}
	a, in := c.State.Analysis, c.State.Context
	if a.CurrentTask != "" {
		items("Current task", []string{a.CurrentTask})
	}
	items("Next steps", a.NextSteps)
	items("Decisions", a.Decisions)
	items("Blockers", a.Blockers)
	items("Documents", a.RelevantDocs)
	fmt.Fprintf(&out, "\n%s (%d)\n", r.Streams.Paint(ui.Bold, "Files changed:"), len(c.State.Files))
	var files ui.Table
	for _, path := range slices.Sorted(maps.Keys(c.State.Files)) {
		f := c.State.Files[path]
		lines, size, note := "", format.Size(f.Size), ""
		if f.Added+f.Removed != 0 {
			lines = "+" + strconv.Itoa(f.Added) + " -" + strconv.Itoa(f.Removed)
		}
		if f.Change == recall.Deleted {
			size = ""
		} else if f.Omitted != "" {
			note = "no content: " + ui.Line(string(f.Omitted), format.NameWidth)
		}
		files.AddRow("  "+ui.Line(string(f.Change), format.NameWidth), format.Path(path), lines, size, note)
	}
	out.WriteString(files.String())
	items("Files read", in.FilesRead)
	if len(in.Commands) == 0 {
		items("Recent commands", in.RecentCommands)
	} else {
		heading("Recent commands")
		var commands ui.Table
		for _, c := range in.Commands {
			commands.AddRow("  "+ui.Line(string(c.Result), format.NameWidth), ui.Line(c.Text, itemWidth))
		}
		out.WriteString(commands.String())
	}
	if text := strings.TrimSpace(plain.Prose(c.Compaction)); text != "" {
		heading("Summary of the last compaction")
		out.WriteString("> " + plain.Quote(text, "") + "\n")
	}
	items("Warnings", c.Warnings)
	fmt.Fprintf(&out, "\nA file's content: entire recall show %s --file <path>\nThe brief of it:  entire recall resume %s\n", c.ID, c.ID)
	return out.String()
}

// writeFacts writes the id, summary, cause, sessions, branch and size.
func (r *recalling) writeFacts(out *strings.Builder, c recall.Checkpoint) {
	fact := func(name, value string) {
		if value != "" {
			out.WriteString(r.Streams.Paint(ui.Bold, name+":") + " " + value + "\n")
		}
	}
	id, now, in := c.ID, r.Now(), c.State.Context
	if c.Status == recall.Pending {
		id += " " + r.Streams.Paint(ui.Yellow, "(pending)")
	}
	fact("Checkpoint", id)
	fact("Summary", ui.Line(c.Summary, itemWidth))
	saved, known := map[recall.Cause]string{
		recall.Clear: "before the context was cleared", recall.Plan: "before the context was cleared for an accepted plan",
		recall.Compact: "before a compaction", recall.Exit: "at the end of the session", recall.Threshold: "as the context was nearly full",
		recall.Lost: "after the session was lost", recall.Requested: "as it was asked for",
		recall.Recorded: "from the checkpoints of the branch",
	}[c.Cause]
	if !known {
		saved = causeText(c.Cause)
	}
	fact("Saved", c.CreatedAt.In(now.Location()).Format(time.DateTime)+" ("+ui.Ago(now, c.CreatedAt)+"), "+saved)
	for _, id := range c.Sessions {
		id = ui.Line(id, format.NameWidth)
		fact("Session", id+" (entire resume "+id+")")
	}
	fact("Person", ui.Line(c.Person, format.NameWidth))
	fact("Commits' checkpoints", ui.Line(strings.Join(c.Checkpoints, ", "), itemWidth))
	branch := cmp.Or(ui.Line(in.GitBranch, format.NameWidth), "none")
	if in.GitCommit == "" {
		fact("Branch", branch+", before the first commit")
	} else {
		fact("Branch", branch+" at "+ui.Line(format.ID(in.GitCommit), format.NameWidth))
	}
	fact("Directory", format.Path(in.WorkingDirectory))
	fact("Packages", ui.Line(strings.Join(in.RelevantPackages, ", "), itemWidth))
	fact("Mode", fmt.Sprintf("%s, %s of contents", ui.Line(string(c.Mode), format.NameWidth), format.Size(c.State.TotalSize)))
	fact("Tags", ui.Line(strings.Join(c.Tags, ", "), itemWidth))
	var size []string
	if c.Prompts > 0 {
		size = append(size, ui.Plural(c.Prompts, "prompt"))
	}
	if c.Tokens > 0 {
		size = append(size, ui.Thousands(c.Tokens)+" tokens of context")
	}
	fact("Conversation", strings.Join(size, ", "))
}
