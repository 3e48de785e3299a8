package digest

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/plain"
)

// Sources is what an analysis is made from beside the digest. Its texts are redacted.
type Sources struct {
	// Root is the root of the worktree; paths below it are shown relative to it.
	Root   string
	Branch string
	// Subjects are those of the commits that the session made, the most recent first.
	Subjects []string
	// Said is the agent's last message in the payload of a stop hook: the transcript may
	// not have it yet.
	Said string
	// Files are the paths that the session changed, from the root.
	Files []string
	// Added and Removed are their changed lines.
	Added, Removed int
}

// userSaid precedes the user's own words.
const userSaid = "user: "

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
	a := recall.Analysis{
		CurrentTask:  r.task(),
		NextSteps:    notNil(firstOnes(r.steps(), maxSteps)),
		Decisions:    notNil(r.decisions()),
		Blockers:     notNil(r.blockers()),
		RelevantDocs: notNil(r.docs()),
		Requests:     slices.Clone(r.Requests),
		Progress:     r.progress(),
		Todo:         r.todo(),
	}
	a.OpenQuestion, a.OpenOptions = r.openQuestion()
	return a
}

// task returns the current task: the task in progress, else the plan, each with what
// was asked after it, else what was asked last.
func (r report) task() string {
	text, at := r.aim()
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

// aim returns the task in progress or the plan, and the number of prompts when it was
// set.
func (r report) aim() (text string, at int) {
	for _, t := range r.Tasks {
		switch {
		case t.State != "in_progress":
		case r.Plan.Accepted:
			return t.Text + "; plan: " + r.Plan.Title, r.Plan.At
		default:
			return t.Text, 0
		}
	}
	switch {
	case r.Plan.Title == "":
	case r.Plan.Accepted:
		return r.Plan.Title, r.Plan.At
	case r.PlanOffered:
		return "plan offered: " + r.Plan.Title, r.Plan.At
	}
	return "", 0
}

// steps returns what is left to do: the pending tasks, else the steps of an accepted
// plan that is not begun; then what the agent announced in its last text.
func (r report) steps() []string {
	var steps []string
	for _, t := range r.Tasks {
		if t.State == "pending" {
			steps = append(steps, t.Text)
		}
	}
	if len(steps) == 0 && r.Plan.Accepted && !r.Plan.Begun {
		steps = slices.Clone(r.Plan.Steps)
	}
	said := r.lastSaid()
	if said == "" {
		return steps
	}
	for _, step := range announced(said) {
		if !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
	}
	return steps
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

// lastQuestion returns the question that a text ends with.
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
		return "" // of every conversation
	}
	const words = 3
	if len(strings.Fields(last)) < words {
		return ""
	}
	return oneLine(strings.Trim(last, "*_ "), maxItem)
}

// decisions returns the decisions of the user, then those of the agent. The last prompt may
// be one; a brief, which has it as the task, leaves it out there.
func (r report) decisions() []string { return append(slices.Clone(r.Answers), r.Chosen...) }

// blockers returns what went wrong and has not succeeded since.
func (r report) blockers() []string {
	var all []string
	for _, t := range r.Troubles {
		text, why := r.src.short(t.Text), ""
		if t.Why != "" {
			why = ": " + t.Why
		}
		switch t.Kind {
		case FailedCommand:
			all = append(all, "failed and did not pass since: "+text+why)
		case Denied:
			all = append(all, "not allowed: "+text)
		case FailedTurn:
			all = append(all, "the last turn ended with an error: "+text)
		case Interrupted: // that is no failure
		}
	}
	return all
}

// docs returns the documents that were read or written, the most recent first.
func (r report) docs() []string {
	var all []string
	for _, list := range [][]string{r.Docs, r.Edited, r.Read} {
		for _, name := range slices.Backward(list) {
			isURL := strings.Contains(name, "://")
			if isURL || isDoc(name) && !ownFile(name) {
				all = append(all, r.src.relative(name))
			}
		}
	}
	return firstOnes(distinct(all), maxDocs)
}

// relative returns a path below the root relative to it, others unchanged.
func (src Sources) relative(name string) string {
	if rest, ok := strings.CutPrefix(name, src.Root+"/"); ok && src.Root != "" {
		return filepath.ToSlash(rest)
	}
	return name
}

// short returns a text with paths relative to the root.
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

func distinct(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
}

// oneLine returns a text as one line, cut.
func oneLine(text string, limit int) string {
	return plain.Shorten(strings.Join(strings.Fields(text), " "), limit)
}

// ownFile reports whether a file is the agent's own and not part of a project.
func ownFile(path string) bool {
	return containsAny(path, "/.claude/plans/", "/.claude/projects/", "/tool-results/") ||
		strings.Contains(path, "/tasks/") && strings.HasSuffix(path, ".output")
}

// isDoc reports whether a file is documentation.
func isDoc(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md", ".mdx", ".rst", ".adoc":
		return true
	}
	return false
}
