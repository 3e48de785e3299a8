package brief

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/recall"
)

// The limits of a line, in bytes.
const (
	summaryWidth = 160
	taskWidth    = 700
	itemWidth    = 320
	pathWidth    = 300
	rowWidth     = 110 // of several names on a line
	listWidth    = 200 // items of a list that are read
	maxOthers    = 20
)

// section is a part of the digest: a title, and lines as many as fit.
type section struct {
	title string // with its newline; omitted without lines
	lines []string
	// step is how many lines it gets in a round.
	step int
	// more is the line about omitted lines, with their number for %d.
	more string
	// over is the number of lines that are not in lines.
	over int
}

func bullets(title string, items []string) section {
	s := section{title: title, step: 1, more: "- … %d more\n", over: max(0, len(items)-listWidth)}
	for _, item := range items[:min(len(items), listWidth)] {
		if text := shownLine(item, itemWidth); text != "" {
			s.lines = append(s.lines, "- "+text+"\n")
		}
	}
	return s
}

func numbered(title string, items []string) section {
	s := bullets(title, items)
	for i, line := range s.lines {
		s.lines[i] = fmt.Sprintf("%d. %s", i+1, strings.TrimPrefix(line, "- "))
	}
	return s
}

// rows returns a section of names, several on a line.
func rows(title string, names []string) section {
	s := section{title: title, step: 1, more: "- … and more\n"}
	row := ""
	for _, name := range names[:min(len(names), listWidth)] {
		name = shownLine(name, pathWidth)
		if name == "" {
			continue
		}
		if row != "" && len(row)+len(name) > rowWidth {
			s.lines, row = append(s.lines, "- "+row+"\n"), ""
		}
		if row != "" {
			row += ", "
		}
		row += name
	}
	if row != "" {
		s.lines = append(s.lines, "- "+row+"\n")
	}
	return s
}

// digest returns the sections other than the files.
func digest(m Material) []section {
	a, c := m.Checkpoint.State.Analysis, m.Checkpoint.State.Context
	var list []section
	if task := shownLine(a.CurrentTask, taskWidth); task != "" {
		list = append(list, section{lines: []string{"**Current Task**: " + task + "\n"}, step: 1})
	}
	if m.Kind != Short {
		list = append(list, section{title: "**Description**:\n", lines: told(m.Checkpoint), step: 1, more: "- … %d more lines\n"})
	}
	list = append(list,
		numbered("**Next Steps**:\n", a.NextSteps),
		bullets("**Decisions Made**:\n", besides(a.Decisions, a.CurrentTask)),
		bullets("**Blockers**:\n", a.Blockers),
		section{title: "**Other Sessions**:\n", lines: others(m), step: 1, more: "- … %d more\n"},
		section{title: "**Recent Commands** (latest first):\n", lines: commands(c.Commands), step: 1, more: "- … %d more\n", over: max(0, len(c.Commands)-listWidth)},
	)
	if m.Kind != Short {
		list = append(list,
			rows("**Files Read** (not changed, latest first):\n", c.FilesRead),
			rows("**Docs**:\n", a.RelevantDocs))
	}
	return append(list, section{lines: where(m), step: 3})
}

// told returns the lines of the description, without those that repeat the task.
func told(c recall.Checkpoint) []string {
	var lines []string
	for line := range strings.Lines(c.Description[:min(len(c.Description), maxLooked)]) {
		text := shownLine(line, taskWidth)
		asked, said := strings.CutPrefix(text, "Asked: ")
		if text == "" || said && strings.HasPrefix(shownLine(c.State.Analysis.CurrentTask, taskWidth), strings.TrimRight(asked, ".…")) {
			continue
		}
		lines = append(lines, "- "+strings.TrimPrefix(text, "- ")+"\n")
	}
	return lines
}

// besides returns the items that do not repeat the task.
func besides(items []string, task string) []string {
	var list []string
	for _, item := range items[:min(len(items), listWidth)] {
		_, said, _ := strings.Cut(item, ": ")
		if said == "" || !strings.HasPrefix(task, strings.TrimRight(said, ".…")) {
			list = append(list, item)
		}
	}
	return list
}

func commands(list []recall.Command) []string {
	var lines []string
	for _, c := range list[:min(len(list), listWidth)] {
		text := shownLine(c.Text, itemWidth)
		if text == "" {
			continue
		}
		result := string(c.Result)
		if c.Result == recall.Unknown || result == "" {
			result = "result unknown"
		}
		lines = append(lines, "- "+text+": "+shownLine(result, itemWidth)+"\n")
	}
	return lines
}

// compaction returns the section of the agent's own summary.
func compaction(text string) section {
	s := section{title: "**Summary of an earlier compaction** (the agent's own words):\n", step: 1, more: "> … %d more lines\n"}
	for line := range strings.Lines(text[:min(len(text), maxLooked)]) {
		if line = shownLine(line, 2*itemWidth); line != "" {
			s.lines = append(s.lines, "> "+line+"\n")
		}
	}
	return s
}

func others(m Material) []string {
	var lines []string
	for _, o := range m.Others[:min(len(m.Others), maxOthers)] {
		names := rows("", o.Files).lines
		if len(names) == 0 {
			continue
		}
		text := strings.TrimSpace(strings.TrimPrefix(names[0], "- "))
		if len(names) > 1 {
			text += ", …"
		}
		lines = append(lines, fmt.Sprintf("- session %s changed after the checkpoint, %s: %s\n", shortID(o.Session), Ago(m.Now, o.At), text))
	}
	return lines
}

// where returns the lines about the directory and the branch, and whether they changed.
func where(m Material) []string {
	c := m.Checkpoint.State.Context
	var lines []string
	if dir := shownLine(c.WorkingDirectory, pathWidth); dir != "" {
		lines = append(lines, "**Working Directory**: "+dir+"\n")
	}
	if c.GitBranch == "" && c.GitCommit == "" {
		return lines
	}
	line := "**Git Branch**: " + checkedOut(c.GitBranch, c.GitCommit)
	switch now := checkedOut(m.Branch, m.Commit); {
	case m.Commit == "":
	case m.Branch == c.GitBranch && m.Commit == c.GitCommit:
		line += ", not moved since"
	default:
		line += "; now " + now
	}
	if ids := rows("", m.Checkpoint.Checkpoints).lines; len(ids) > 0 {
		line += "; committed checkpoints " + strings.TrimSpace(strings.TrimPrefix(ids[0], "- "))
	}
	return append(lines, line+"\n")
}

func checkedOut(branch, commit string) string {
	branch, commit = shownLine(branch, pathWidth), shortHash(commit)
	switch {
	case branch == "":
		return "detached at " + commit
	case commit == "":
		return branch + ", no commit yet"
	}
	return branch + " at " + commit
}

func shortHash(hash string) string { return shownLine(hash[:min(len(hash), 10)], 16) }

func shortID(id string) string { return shownLine(id[:min(len(id), 8)], 16) }

// rest returns the line about n omitted lines.
func (s section) rest(n int) string {
	if n <= 0 {
		return ""
	}
	return strings.Replace(s.more, "%d", strconv.Itoa(n), 1)
}

// trimmed returns the lines of the sections that fit, taken in turns. The first line of a
// section includes the cost of its title and of the line about omitted lines.
func trimmed(list []section, room size) string {
	taken := make([]int, len(list))
	for again := true; again; {
		again = false
		for i, s := range list {
			for n := 0; n < s.step && taken[i] < len(s.lines); n++ {
				text := s.lines[taken[i]]
				if taken[i] == 0 {
					text = s.title + text + s.rest(100_000)
				}
				need := sizeOf(text)
				if !need.within(room) {
					break
				}
				room, again = room.minus(need), true
				taken[i]++
			}
		}
	}
	var b strings.Builder
	for i, s := range list {
		if taken[i] > 0 {
			b.WriteString(s.title)
			b.WriteString(strings.Join(s.lines[:taken[i]], ""))
			b.WriteString(s.rest(len(s.lines) - taken[i] + s.over))
		}
	}
	return b.String()
}
