package brief

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

// The limits of a line, in bytes.
const (
	summaryWidth = 160
	taskWidth    = 700
	itemWidth    = 320
	reasonWidth  = 140 // of the reason for an edit
	pathWidth    = 300
	rowWidth     = 110 // of several names on a line
	listWidth    = 200 // items of a list that are read
	maxOthers    = 20
)

// section is a part of a brief: a title and as many lines as fit.
type section struct {
	title string // with its newline; omitted if there are no lines
	lines []string
	// more is the line about omitted lines, with their number for %d.
	more string
	// over is the number of omitted lines that are not in lines.
	over int
	// last is set if the last lines have precedence over the first.
	last bool
	// least limits the section until the others got their share, in fractions of tokens.
	least int
	// most is the limit of the section, 0 for none.
	most int
}

func bullets(title string, items []string) section {
	s := section{title: title, more: "- … %d more\n", over: max(0, len(items)-listWidth)}
	for _, item := range items[:min(len(items), listWidth)] {
		if text := shownLine(item, itemWidth); text != "" {
			s.lines = append(s.lines, "- "+text+"\n")
		}
	}
	return s
}

// rows returns a section of names, several on a line.
func rows(title string, names []string) section {
	s := section{title: title, more: "- … and more\n"}
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

// limited returns the section with least set to a number of tokens.
func (s section) limited(most int) section {
	s.least = tokens(most)
	return s
}

// atMost returns the section with a limit in tokens that holds even if there is room.
func (s section) atMost(most int) section {
	s.most = tokens(most)
	return s
}

// decided returns the decisions that do not repeat the task or a request, those of the
// person first.
func decided(a recall.Analysis) section {
	list := slices.Clone(a.Decisions[:min(len(a.Decisions), listWidth)])
	list = slices.DeleteFunc(list, func(s string) bool {
		_, said, _ := strings.Cut(s, ": ")
		plan, ok := strings.CutPrefix(s, "plan accepted: ") // it may be a request
		return said != "" && strings.HasPrefix(a.CurrentTask, strings.TrimRight(said, ".…")) ||
			ok && slices.ContainsFunc(a.Requests, func(r recall.Request) bool { return strings.Contains(r.Text, strings.TrimRight(plan, ".…")) })
	})
	return bullets("**Decisions**:\n", list)
}

// readFiles returns the wanted files that were only read. It skips files outside the
// worktree and in folders of installed or built files.
func readFiles(c recall.Context, wanted func(name string) bool) section {
	names := slices.Clone(c.FilesRead[:min(len(c.FilesRead), listWidth)])
	names = slices.DeleteFunc(names, func(name string) bool {
		return path.IsAbs(name) || strings.Contains("/"+name, "/node_modules/") || strings.Contains("/"+name, "/vendor/") || strings.Contains("/"+name, "/dist/") || !wanted(name)
	})
	return rows("**Files Read** (not changed, latest first):\n", names)
}

// steps returns the unfinished items of the list and the announced steps.
func steps(m Material) section {
	a := m.Checkpoint.State.Analysis
	items := make([]string, 0, len(a.Todo)+len(a.NextSteps))
	known := map[string]bool{}
	for _, t := range a.Todo[:min(len(a.Todo), listWidth)] {
		known[t.Text] = true
		if t.State == "in_progress" {
			t.Text += " (in progress)"
		}
		items = append(items, t.Text)
	}
	for _, step := range a.NextSteps[:min(len(a.NextSteps), listWidth)] {
		if !known[step] {
			items = append(items, step)
		}
	}
	for _, q := range m.Memory.Todo {
		if !slices.Contains(m.Checkpoint.Sessions, q.Session) && !slices.Contains(items, q.Text) {
			items = append(items, q.Text+", left by session "+shortID(q.Session))
		}
	}
	s := bullets("**Next Steps**:\n", items)
	for i, line := range s.lines {
		s.lines[i] = fmt.Sprintf("%d. %s", i+1, strings.TrimPrefix(line, "- "))
	}
	return s
}

// question returns the question that got no reply.
func question(a recall.Analysis) section {
	var items []string
	if a.OpenQuestion != "" {
		items = append(items, a.OpenQuestion)
		for _, option := range a.OpenOptions[:min(len(a.OpenOptions), listWidth)] {
			items = append(items, "alternative: "+option)
		}
	}
	return bullets("**Open Question** (the agent's last words; no reply followed):\n", items)
}

// told returns the sections of the current task and the description, without the parts that
// the requests repeat.
func told(c recall.Checkpoint) []section {
	a := c.State.Analysis
	var list []section
	if task := shownLine(a.CurrentTask, taskWidth); task != "" && !repeated(task, a) {
		list = append(list, section{lines: []string{"**Current Task**: " + task + "\n"}})
	}
	s := section{title: "**Description**:\n", more: "- … %d more lines\n"}
	for line := range strings.Lines(c.Description[:min(len(c.Description), maxLooked)]) {
		text := shownLine(line, taskWidth)
		asked, ok := strings.CutPrefix(text, "Asked: ")
		derived := ok || strings.HasPrefix(text, "Then: ") || strings.HasPrefix(text, "The agent said last: ") // from the transcript
		if text == "" || len(a.Requests) > 0 && derived ||
			ok && strings.HasPrefix(shownLine(a.CurrentTask, taskWidth), strings.TrimRight(asked, ".…")) {
			continue
		}
		s.lines = append(s.lines, "- "+strings.TrimPrefix(text, "- ")+"\n")
	}
	return append(list, s)
}

// repeated reports whether a task is one of the requests, an item of the list, or a plan
// that is among the requests.
func repeated(task string, a recall.Analysis) bool {
	task, _, _ = strings.Cut(task, "; last asked: ")
	task, _, _ = strings.Cut(task, "; plan: ")
	task = strings.TrimRight(strings.TrimPrefix(task, "plan offered: "), ".…")
	for _, r := range a.Requests[:min(len(a.Requests), listWidth)] {
		if strings.Contains(shownLine(r.Text, maxMentions), task) {
			return true
		}
	}
	for _, t := range a.Todo[:min(len(a.Todo), listWidth)] {
		if strings.HasPrefix(shownLine(t.Text, taskWidth), task) {
			return true
		}
	}
	return false
}

func commands(list []recall.Command) section {
	s := section{title: "**Commands** (latest first):\n", more: "- … %d more\n", over: max(0, len(list)-listWidth)}
	var later shellcmd.Checks // the checks of later commands
	for _, c := range list[:min(len(list), listWidth)] {
		text := shownLine(c.Text, itemWidth)
		if text == "" {
			continue
		}
		checks := shellcmd.Split(c.Text).Checks()
		if isUnknown := c.Result == recall.Unknown || c.Result == ""; isUnknown && checks != 0 && checks&^later == 0 {
			continue // a later command has a newer result
		}
		later |= checks
		result := string(c.Result)
		if c.Result == recall.Unknown || result == "" {
			result = "result unknown"
		}
		s.lines = append(s.lines, "- `"+strings.ReplaceAll(text, "`", "'")+"`: "+shownLine(result, itemWidth)+"\n")
	}
	return s
}

func others(m Material) section {
	s := section{title: "**Other Sessions**:\n", more: "- … %d more\n"}
	for _, o := range m.Others[:min(len(m.Others), maxOthers)] {
		names := rows("", o.Files).lines
		if len(names) == 0 {
			continue
		}
		text := strings.TrimSpace(strings.TrimPrefix(names[0], "- "))
		if len(names) > 1 {
			text += ", …"
		}
		s.lines = append(s.lines, fmt.Sprintf("- session %s changed after the checkpoint, %s: %s\n", shortID(o.Session), Ago(m.Now, o.At), text))
	}
	return s
}

// where returns the section with the branch, whether it moved, the pull requests and the
// worktree.
func where(m Material) section {
	c := m.Checkpoint.State.Context
	s := section{title: "**Where**:\n"}
	add := func(name, text string) {
		if text != "" {
			s.lines = append(s.lines, "- "+name+" "+text+"\n")
		}
	}
	add("branch", branchLine(m))
	const most = 4
	pulls := m.Checkpoint.State.Analysis.Progress.PullRequests
	var shown []string
	for _, name := range pulls[:min(len(pulls), most)] {
		if name = shownLine(name, pathWidth); name != "" {
			shown = append(shown, name)
		}
	}
	add("pull request", strings.Join(shown, ", "))
	add("worktree", shownLine(c.WorkingDirectory, pathWidth))
	return s
}

// branchLine returns the branch and commit of the context and, if they changed, the current
// ones; empty if unknown.
func branchLine(m Material) string {
	c := m.Checkpoint.State.Context
	if c.GitBranch == "" && c.GitCommit == "" {
		return ""
	}
	line := checkedOut(c.GitBranch, c.GitCommit)
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
	return line
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
	line := strings.Replace(s.more, "%d", strconv.Itoa(n), 1)
	if n == 1 {
		line = strings.NewReplacer(" ones\n", " one\n", " files\n", " file\n", " lines\n", " line\n").Replace(line)
	}
	return line
}
