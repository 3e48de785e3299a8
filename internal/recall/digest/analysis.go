package digest

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/plain"
)

// Sources is what an analysis is made from beside the digest. Its texts come
// redacted.
type Sources struct {
	// Root is the worktree's; paths below it are shown relative to it.
	Root   string
	Branch string
	// Subjects are those of the commits that the session made, the last first.
	Subjects []string
	// Said is the agent's last message, as a stop hook told it, where the
	// transcript may not have it yet.
	Said string
	// Files are the paths that the session changed, from the root.
	Files []string
	// Added and Removed are their lines.
	Added, Removed int
}

// What stands before a person's own words.
const userSaid = "user: "

// The bounds of what an analysis shows.
const (
	maxTask     = 300
	maxSteps    = 12
	maxShown    = 12
	maxDocs     = 10
	maxPackages = 20
)

// Analysis is what was going on. What is quoted in it stands behind what it is:
// "user: ", "agent: ", "plan accepted: ", "plan: ", "open question: ", "last asked: ".
func (d *Digest) Analysis(src Sources) recall.Analysis {
	return recall.Analysis{
		CurrentTask:  d.task(src),
		NextSteps:    notNil(firstOnes(d.steps(src), maxSteps)),
		Decisions:    notNil(d.decisions()),
		Blockers:     notNil(d.blockers(src)),
		RelevantDocs: notNil(d.docs(src)),
	}
}

// task is what was worked on: the item of the agent's list that is begun, else
// the plan, each with what was asked after it, else what was asked last.
func (d *Digest) task(src Sources) string {
	text, at := d.aim()
	last := Asked{}
	if n := len(d.Asked); n > 0 {
		last = d.Asked[n-1]
	}
	asked := oneLine(last.Text, maxTask)
	switch {
	case text != "" && last.At > at:
		return text + "; last asked: " + asked
	case text != "":
		return text
	case asked != "":
		return asked
	case d.Title != "":
		return d.Title
	case d.Short != "":
		return oneLine(d.Short, maxTask)
	case src.Branch != "" && len(d.Edited)+len(src.Files) > 0:
		return "work on branch " + src.Branch
	}
	return ""
}

// aim is what the agent itself calls its work, and how many prompts there were
// when it said so.
func (d *Digest) aim() (text string, at int) {
	for _, t := range d.Tasks {
		switch {
		case t.State != "in_progress":
		case d.Plan.Accepted:
			return t.Text + "; plan: " + d.Plan.Title, d.Plan.At
		default:
			return t.Text, 0
		}
	}
	switch {
	case d.Plan.Title == "":
	case d.Plan.Accepted:
		return d.Plan.Title, d.Plan.At
	case d.PlanOffered:
		return "plan offered: " + d.Plan.Title, d.Plan.At
	}
	return "", 0
}

// steps are what is still to be done: the open items of the agent's list, else
// the steps of a plan that is not begun, else what the agent wrote last.
func (d *Digest) steps(src Sources) []string {
	var steps []string
	for _, t := range d.Tasks {
		if t.State == "pending" {
			steps = append(steps, t.Text)
		}
	}
	if len(steps) == 0 && d.Plan.Accepted && !d.Plan.Begun {
		steps = slices.Clone(d.Plan.Steps)
	}
	said := d.lastSaid(src)
	if said == "" {
		return steps
	}
	for _, step := range announced(said) {
		if !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
	}
	if question := lastQuestion(said); question != "" {
		steps = append(firstOnes(steps, maxSteps-1), "open question: "+question)
	}
	return steps
}

// lastSaid is what the agent said last, if nobody has answered it.
func (d *Digest) lastSaid(src Sources) string {
	if src.Said != "" {
		return plain.Head(src.Said, maxSaid)
	}
	if d.SaidAt != d.Prompts {
		return ""
	}
	return d.Said
}

// announced is the list below the last heading that says what comes next.
func announced(said string) []string {
	var steps []string
	below, fenced := false, false
	for text := range strings.SplitSeq(said, "\n") {
		indented := strings.HasPrefix(text, "  ") || strings.HasPrefix(text, "\t")
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "```") {
			fenced = !fenced
		}
		item, isItem := listItem(text)
		switch {
		case text == "", fenced, indented:
		case isItem && below && item != "":
			steps = append(steps, plain.Shorten(item, maxItem))
		case isItem:
		case announces(text):
			steps, below = nil, true
		default:
			below = false
		}
	}
	return steps
}

// announces says whether a line is the heading of what is still to be done.
func announces(text string) bool {
	const longest, words = 60, 8
	if n := strings.LastIndex(text, ". "); n >= 0 {
		text = text[n+len(". "):]
	}
	if len(text) > longest || len(strings.Fields(text)) > words {
		return false
	}
	isHeading := strings.HasPrefix(text, "#") || strings.HasPrefix(text, "**") || strings.HasSuffix(strings.TrimRight(text, "*"), ":")
	low := strings.ToLower(strings.Trim(text, "#*: "))
	return isHeading && containsAny(low, "next step", "remaining", "todo", "to do", "follow-up", "follow up", "still open", "left to do", "what's left") &&
		!containsAny(low, "no remaining", "no next", "no follow", "none", "completed", "done")
}

// lastQuestion is the question that a text ends with.
func lastQuestion(said string) string {
	said = strings.TrimRight(strings.TrimSpace(said), "*_ ")
	if !strings.HasSuffix(said, "?") {
		return ""
	}
	last := said[strings.LastIndexByte(said, '\n')+1:]
	for sentence := range sentences(last) {
		last = sentence
	}
	const words = 3
	if len(strings.Fields(last)) < words {
		return ""
	}
	return oneLine(strings.Trim(last, "*_ "), maxItem)
}

// decisions are what people decided, and what the agent says that it did. The
// last prompt is no decision, but the task.
func (d *Digest) decisions() []string {
	all := slices.Clone(d.Answers)
	if n := len(d.Asked); n > 0 {
		last := userSaid + oneLine(d.Asked[n-1].Text, maxItem)
		all = slices.DeleteFunc(all, func(s string) bool { return s == last })
	}
	return append(all, d.Chosen...)
}

// blockers are what went wrong and wasn't seen to go right since.
func (d *Digest) blockers(src Sources) []string {
	var all []string
	for _, t := range d.Troubles {
		text, why := src.short(t.Text), ""
		if t.Why != "" {
			why = ": " + t.Why
		}
		switch t.Kind {
		case FailedCommand:
			all = append(all, "failed and did not pass since: "+text+why)
		case FailedEdit:
			all = append(all, "edit failed: "+text+why)
		case Denied:
			all = append(all, "not allowed: "+text)
		case Interrupted:
			all = append(all, "the user interrupted the last turn")
		case FailedTurn:
			all = append(all, "the last turn ended with an error: "+text)
		}
	}
	return all
}

// docs are the documents that were read or written, the last ones first.
func (d *Digest) docs(src Sources) []string {
	var all []string
	for _, list := range [][]string{d.Docs, d.Edited, d.Read} {
		for _, name := range slices.Backward(list) {
			isURL := strings.Contains(name, "://")
			if isURL || isDoc(name) && !ownFile(name) {
				all = append(all, src.relative(name))
			}
		}
	}
	return firstOnes(distinct(all), maxDocs)
}

// Context is where it was going on; the git fields are the caller's.
func (d *Digest) Context(src Sources) recall.Context {
	c := recall.Context{WorkingDirectory: d.Cwd, GitBranch: src.Branch, RelevantPackages: []string{}, RecentCommands: []string{}}
	if c.WorkingDirectory == "" {
		c.WorkingDirectory = src.Root
	}
	for _, file := range src.Files {
		c.RelevantPackages = append(c.RelevantPackages, path.Dir(file))
	}
	slices.Sort(c.RelevantPackages)
	c.RelevantPackages = firstOnes(slices.Compact(c.RelevantPackages), maxPackages)
	for _, command := range slices.Backward(d.Commands) {
		if len(c.Commands) == maxShown {
			break
		}
		command.Text = src.withoutCd(command.Text)
		c.Commands = append(c.Commands, command)
		c.RecentCommands = append(c.RecentCommands, command.Text)
	}
	changed := map[string]bool{}
	for _, file := range src.Files {
		changed[file] = true
	}
	for _, file := range d.Edited {
		changed[src.relative(file)] = true
	}
	for _, file := range slices.Backward(d.Read) {
		if file = src.relative(file); !changed[file] {
			c.FilesRead = append(c.FilesRead, file)
		}
	}
	return c
}

// relative is a path from the worktree's root, if it is below that.
func (src Sources) relative(name string) string {
	if rest, ok := strings.CutPrefix(name, src.Root+"/"); ok && src.Root != "" {
		return filepath.ToSlash(rest)
	}
	return name
}

// short is a text with paths from the worktree's root.
func (src Sources) short(text string) string {
	if src.Root == "" {
		return text
	}
	text = src.withoutCd(text)
	if rest, ok := strings.CutPrefix(text, src.Root+"/"); ok {
		return rest
	}
	return strings.ReplaceAll(text, " "+src.Root+"/", " ")
}

// withoutCd is a command without the step into the root that it begins with.
func (src Sources) withoutCd(command string) string {
	for _, root := range []string{src.Root, `"` + src.Root + `"`} {
		if rest, ok := strings.CutPrefix(command, "cd "+root+" && "); ok && src.Root != "" {
			return rest
		}
	}
	return command
}

// containsAny reports whether a text contains one of the parts.
func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func firstOnes(list []string, n int) []string { return list[:min(n, len(list))] }

func distinct(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
}

// oneLine is a text in one line, cut.
func oneLine(text string, limit int) string {
	return plain.Shorten(strings.Join(strings.Fields(text), " "), limit)
}

// ownFile says whether a file is one of the agent's own, and no part of a
// project.
func ownFile(path string) bool {
	return containsAny(path, "/.claude/plans/", "/.claude/projects/", "/tool-results/") ||
		strings.Contains(path, "/tasks/") && strings.HasSuffix(path, ".output")
}

// isDoc says whether a file is one for people to read.
func isDoc(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md", ".mdx", ".rst", ".adoc":
		return true
	}
	return false
}
