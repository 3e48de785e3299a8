package brief

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/strategy/recall"
)

// compaction returns the agent's own summary at the last compaction: its last sections
// first, which are about the remaining work. They are omitted if the work continued after
// the compaction.
func compaction(c recall.Checkpoint) section {
	s := section{title: "**Summary at Compaction** (the agent's own words, its last sections first):\n", more: "> … %d more lines\n"}
	past := c.State.Analysis.Progress.PastCompaction
	if past {
		s.title = "**Summary at Compaction** (the agent's own words; work continued, so its pending items are omitted):\n"
	}
	text := c.Compaction[:min(len(c.Compaction), maxLooked)]
	for _, part := range summaryParts(text, past) {
		fenced := false
		for line := range strings.Lines(part) {
			line = shownLine(line, 2*itemWidth)
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
				continue
			}
			if line != "" && !fenced {
				s.lines = append(s.lines, "> "+line+"\n")
			}
		}
	}
	return s
}

// summaryParts returns the numbered sections of a summary: first those about pending tasks,
// the current work and the next step, which are omitted if past is set, then the others
// from last to first. The list of the user's messages is omitted.
func summaryParts(text string, past bool) []string {
	var first, last []string
	var parts []string
	var b strings.Builder
	for line := range strings.Lines(text) {
		if isSummaryHeading(line) && b.Len() > 0 {
			parts = append(parts, b.String())
			b.Reset()
		}
		b.WriteString(line)
	}
	parts = append(parts, b.String())
	for _, part := range slices.Backward(parts) {
		heading, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(part)), "\n")
		switch {
		case len(parts) > 1 && strings.Contains(heading, "user messages"):
		case strings.Contains(heading, "next step"), strings.Contains(heading, "current work"), strings.Contains(heading, "pending"):
			if !past {
				first = append([]string{part}, first...)
			}
		default:
			last = append(last, part)
		}
	}
	return append(first, last...)
}

// isSummaryHeading reports whether a line begins a section of a summary: "7. Pending
// Tasks:", "## Current Work".
func isSummaryHeading(line string) bool {
	line = strings.TrimRight(line, " \n")
	if strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "# ") {
		return true
	}
	number, name, ok := strings.Cut(line, ". ")
	if !ok || number == "" || strings.Trim(number, "0123456789") != "" {
		return false
	}
	name = strings.Trim(name, "* ")
	const longest = 60
	return len(name) < longest && strings.HasSuffix(name, ":")
}
