package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/report"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/cmd/internal/ui/explore"
	"github.com/seed-3aff656d/entire/internal/index"
)

// turnText formats a turn as lines of at most columns characters.
type turnText struct {
	streams ui.Streams // for its colours
	columns int
	full    bool // show whole commands
	lines   []explore.Line
}

// line adds one line.
func (t *turnText) line(style ui.Style, text string) {
	t.lines = append(t.lines, explore.Line{Text: t.streams.Paint(style, ui.Escape(text))})
}

// text adds a text, broken at words.
func (t *turnText) text(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(ui.WrapWhole(ui.Escape(text), t.columns), "\n") {
		t.line("", line)
	}
}

// part adds a text with a heading. It does nothing if the text is empty.
func (t *turnText) part(heading, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	t.line(ui.Bold, heading)
	t.text(text)
	t.line("", "")
}

// head adds the title of the turn, its time, place and usage, and its commits.
func (t *turnText) head(turn *report.Turn, row *index.Row, commits []report.Commit) {
	for i, line := range strings.Split(ui.WrapWhole(ui.Escape(turn.Title), t.columns), "\n") {
		if i == 3 { //nolint:mnd // part "Asked" has the rest
			break
		}
		t.line(ui.Bold, line)
	}
	parts := []string{}
	if !turn.At.IsZero() {
		parts = append(parts, turn.At.Format("Mon 2 Jan 15:04"))
	}
	parts = append(parts, turn.Agent, turn.Branch, "session "+format.Session(row.Session))
	if n := turn.Tokens.Plus(turn.SubagentTokens).Total(); n > 0 {
		parts = append(parts, ui.Count(n)+" tokens")
	}
	switch {
	case turn.Before != "" && turn.After != "":
		parts = append(parts, "before it "+turn.Before, "after it "+turn.After)
	case turn.After != "":
		parts = append(parts, "after it "+turn.After)
	}
	if turn.TakenBack {
		parts = append(parts, format.TakenBack)
	}
	parts = slices.DeleteFunc(parts, func(text string) bool { return text == "" })
	about := strings.Join(parts, ", ")
	for line := range strings.SplitSeq(ui.WrapWhole(ui.Escape(about), t.columns), "\n") {
		t.line(ui.Dim, line)
	}
	for i := range commits {
		c := &commits[i]
		t.line(ui.Yellow, c.OID[:min(len(c.OID), 7)]+" "+c.Subject)
	}
	t.line("", "")
}

// whole adds all of a turn.
func (t *turnText) whole(turn *report.Turn, row *index.Row, commits []report.Commit) {
	t.head(turn, row, commits)
	t.part("Asked", turn.Prompt)
	t.part("Said", turn.Answer)
	t.calls(turn.Calls)
	t.part("Subagents", turn.Subagents)
	t.files(turn)
}

// calls adds the tool calls and their outcomes.
func (t *turnText) calls(calls []report.Call) {
	if len(calls) == 0 {
		return
	}
	t.line(ui.Bold, "Did")
	for _, c := range calls {
		outcome, style := outcomeOf(c.Outcome, c.Status)
		by := ""
		if c.Subagent {
			by = "subagent: "
		}
		const column = 8 // of what was called
		text := by + c.Tool + " " + c.Text
		if !t.full {
			text = ui.Line(text, max(t.columns-column, 1))
		}
		label := t.streams.Paint(style, fmt.Sprintf("%-*s", column-1, outcome)) + " "
		for line := range strings.SplitSeq(ui.Wrap(text, max(t.columns-column, 1)), "\n") {
			t.lines = append(t.lines, explore.Line{Text: label + ui.Escape(line)})
			label = strings.Repeat(" ", column)
		}
	}
	t.line("", "")
}

// files adds the files that the turn changed, with their diffs.
func (t *turnText) files(turn *report.Turn) {
	if len(turn.Files) == 0 {
		t.line(ui.Dim, "No file was changed.")
		t.line("", "")
		return
	}
	for i := range turn.Files {
		f := &turn.Files[i]
		about := fmt.Sprintf("  +%d -%d", f.Added, f.Removed)
		if f.Note != "" {
			about += "  " + f.Note
		}
		heading := t.streams.Paint(ui.Bold, ui.Escape(f.Path)) + t.streams.Paint(ui.Dim, ui.Escape(about))
		t.lines = append(t.lines, explore.Line{Text: heading, Place: explore.Place{File: f.Path}})
		if len(f.Hunks) == 0 {
			t.line(ui.Dim, "  not shown here: `"+turn.Show+"` shows the agent's edits")
		}
		for _, h := range f.Hunks {
			t.hunk(f.Path, h)
		}
		t.line("", "")
	}
}

// hunk adds the lines of a hunk.
func (t *turnText) hunk(path string, h report.Hunk) {
	t.line(ui.Cyan, fmt.Sprintf("@@ line %d", h.New))
	number := h.New
	for _, b := range h.Blocks {
		// Lines added by a person have another color than those of the agent.
		sign, style := " ", ui.Style("")
		switch {
		case b.Kind == report.Removed:
			sign, style = "-", ui.Red
		case b.Kind == report.Added && b.By == report.Person:
			sign, style = "+", ui.Blue
		case b.Kind == report.Added:
			sign, style = "+", ui.Green
		}
		for line := range strings.SplitSeq(b.Text, "\n") {
			at := explore.Place{File: path, Text: line}
			if b.Kind != report.Removed {
				at.Number = number
				number++
			}
			t.lines = append(t.lines, explore.Line{Text: t.streams.Paint(style, sign+ui.Escape(line)), Place: at, Changed: b.Kind != report.Kept})
		}
	}
}
