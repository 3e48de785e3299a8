package digest

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// Sources is the input for an analysis besides the digest. Its texts are redacted.
type Sources struct {
	// Root is the root of the worktree; paths below it are shown relative to it.
	Root   string
	Branch string
	// Subjects are the subjects of the session's commits, the most recent first.
	Subjects []string
	// Said is the agent's last message from the payload of a stop hook; the transcript may
	// not contain it yet.
	Said string
	// Files are the paths that the session changed, relative to the root.
	Files []string
	// Added and Removed count their changed lines.
	Added, Removed int
}

// These precede quoted texts.
const (
	userSaid     = "user: "
	agentSaid    = "agent: "
	planSaid     = "plan: "
	planAccepted = "plan accepted: "
)

// The limits of an analysis.
const (
	maxTask     = 300
	maxSteps    = 12
	maxShown    = 12
	maxDocs     = 10
	maxPackages = 20
)

// report derives texts from a digest.
type report struct {
	*Digest
	src Sources
}

// Analysis returns the state of the work. Quoted texts have a prefix: "user: ",
// "agent: ", "plan accepted: ", "plan: ", "last asked: ".
func (d *Digest) Analysis(src Sources) recall.Analysis {
	r := report{d, src}
	// The next steps are the pending tasks, else the steps of an accepted plan that is not
	// begun, followed by the steps that the agent announced in its last text.
	var steps []string
	for _, t := range d.Tasks {
		if t.State == "pending" {
			steps = append(steps, t.Text)
		}
	}
	if len(steps) == 0 && d.Plan.Accepted && !d.Plan.Begun {
		steps = slices.Clone(d.Plan.Steps)
	}
	for _, step := range announced(r.lastSaid()) {
		if !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
	}
	var blockers []string
	for _, t := range d.Troubles {
		text, why := src.short(t.Text), ""
		if t.Why != "" {
			why = ": " + t.Why
		}
		switch t.Kind {
		case FailedCommand:
			blockers = append(blockers, "failed and did not pass since: "+text+why)
		case Denied:
			blockers = append(blockers, "not allowed: "+text)
		case FailedTurn:
			blockers = append(blockers, "the last turn ended with an error: "+text)
		case Interrupted: // not a failure
		}
	}
	var docs []string
	for _, list := range [][]string{d.Docs, d.Edited, d.Read} {
		for _, name := range slices.Backward(list) {
			isDoc := slices.Contains([]string{".md", ".mdx", ".rst", ".adoc"}, strings.ToLower(filepath.Ext(name)))
			if strings.Contains(name, "://") || isDoc && !ownFile(name) {
				if name = src.relative(name); len(docs) < maxDocs && !slices.Contains(docs, name) {
					docs = append(docs, name)
				}
			}
		}
	}
	a := recall.Analysis{
		CurrentTask: r.task(),
		NextSteps:   notNil(firstOnes(steps, maxSteps)),
		// The last prompt may be one of them; a brief, which shows it as the task, omits it
		// from the decisions.
		Decisions:    notNil(r.decisions()),
		Facts:        r.facts(),
		Blockers:     notNil(blockers),
		RelevantDocs: notNil(docs),
		Requests:     slices.Clone(d.Requests),
		Progress:     r.progress(),
		Todo:         r.todo(),
	}
	a.OpenQuestion, a.OpenOptions = r.openQuestion()
	return a
}

// task returns the current task: the task in progress, else the plan, each with the last
// request after it, else the last request.
func (r report) task() string {
	text, at := "", 0 // the number of prompts when it was set
	switch i := slices.IndexFunc(r.Tasks, func(t Task) bool { return t.State == "in_progress" }); {
	case i >= 0 && r.Plan.Accepted:
		text, at = r.Tasks[i].Text+"; plan: "+r.Plan.Title, r.Plan.At
	case i >= 0:
		text = r.Tasks[i].Text
	case r.Plan.Title == "":
	case r.Plan.Accepted:
		text, at = r.Plan.Title, r.Plan.At
	case r.PlanOffered:
		text, at = "plan offered: "+r.Plan.Title, r.Plan.At
	}
	last := Asked{}
	if n := len(r.Asked); n > 0 {
		last = r.Asked[n-1]
	}
	asked := oneLine(last.Text, maxTask)
	switch {
	case text != "" && last.At > at:
		return text + "; last asked: " + asked
	case text != "":
		return text
	case asked != "":
		return asked
	case r.Title != "":
		return r.Title
	case r.Short != "":
		return oneLine(r.Short, maxTask)
	case r.src.Branch != "" && len(r.Edited)+len(r.src.Files) > 0:
		return "work on branch " + r.src.Branch
	}
	return ""
}

// lastSaid returns the agent's last text, if no prompt came after it.
func (r report) lastSaid() string {
	if r.src.Said != "" {
		return plain.Head(r.src.Said, maxSaid)
	}
	if r.SaidAt != r.Prompts {
		return ""
	}
	return r.Said
}

// announced returns the list below the last heading that announces next steps.
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

// announces reports whether a line is a heading that announces next steps.
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

// lastQuestion returns the question at the end of a text, "" if there is none.
func lastQuestion(said string) string {
	said = strings.TrimRight(strings.TrimSpace(said), "*_ ")
	if !strings.HasSuffix(said, "?") {
		return ""
	}
	last := said[strings.LastIndexByte(said, '\n')+1:]
	for sentence := range sentences(last) {
		last = sentence
	}
	if low := strings.ToLower(last); containsAny(low, "anything else", "what would you like", "what should i", "how can i help", "what's next", "what next") {
		return "" // a stock phrase
	}
	const words = 3
	if len(strings.Fields(last)) < words {
		return ""
	}
	return oneLine(strings.Trim(last, "*_ "), maxItem)
}

// relative makes a path below the root relative to it, and returns others unchanged.
func (src Sources) relative(name string) string {
	if rest, ok := strings.CutPrefix(name, src.Root+"/"); ok && src.Root != "" {
		return filepath.ToSlash(rest)
	}
	return name
}

// short makes the paths in a text relative to the root.
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

// withoutCd returns a command without a leading cd into the root.
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

// oneLine returns a text as one line, cut to limit.
func oneLine(text string, limit int) string {
	return plain.Shorten(strings.Join(strings.Fields(text), " "), limit)
}

// ownFile reports whether a file is the agent's own and not part of a project.
func ownFile(path string) bool {
	return containsAny(path, "/.claude/plans/", "/.claude/projects/", "/tool-results/") ||
		strings.Contains(path, "/tasks/") && strings.HasSuffix(path, ".output")
}
