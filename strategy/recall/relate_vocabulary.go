package recall

import (
	"math"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// vocabulary holds the parts of a context that a prompt may refer to.
type vocabulary struct {
	// words has centralScore for words of what the work is about, wordScore for the others.
	words map[string]float64
	// identifiers have identifierScore, or the half of it if only a text names them.
	identifiers map[string]float64
	// paths have changedScore, readScore or namedScore, with all their ends: a/b/c.go, b/c.go and
	// c.go.
	paths map[string]float64
	// plans has the words of the titles of its plans. planned reports whether it ended with a plan
	// that is not carried out, or announced steps.
	plans   [][]string
	planned bool
	// failing reports whether a check failed.
	failing bool
	// offers reports whether it ended with alternatives, a question or a list.
	offers                bool
	pullRequests, commits []string
}

// usual is the share of the candidates that have a word, identifier or path.
type usual struct {
	counts map[string]int
	total  int
}

// usualOf counts the words, identifiers and paths of contexts.
func usualOf(list []*vocabulary) usual {
	u := usual{counts: map[string]int{}, total: len(list)}
	for _, k := range list {
		for _, names := range []map[string]float64{k.words, k.identifiers, k.paths} {
			for name := range names {
				u.counts[name]++
			}
		}
	}
	return u
}

// weight is the weight of a name: less if more of the contexts have it. Few contexts say nothing.
func (u usual) weight(name string) float64 {
	const least = 5
	if u.total < least {
		return 1
	}
	switch n := u.counts[name]; {
	case n < 3:
	case n*4 > u.total*3:
		return 0.5
	case n*2 > u.total:
		return 0.7
	}
	return 1
}

// score returns the points of what the prompt and the context have in common, divided by the
// length of the prompt: the square root of the sum of the squares of the weights of its names
// and words that say what it is about. One that occurs several times weighs more. matched counts
// those in common, files twice, about all of them.
func (k *vocabulary) score(t *textWords, l *lexicon, u usual) (score float64, matched, about int) {
	sum, length := 0.0, 0.0
	count := func(name string, points float64) {
		const more, most = 0.5, 3
		weight := 1 + more*float64(min(t.counts[name], most)-1)
		about++
		length += weight * weight
		if points > 0 {
			matched++
			sum += points * weight * u.weight(name)
		}
	}
	for _, path := range t.paths {
		if points, known := k.pathPoints(path); known || !isGeneric(path[strings.LastIndexByte(path, '/')+1:]) {
			count(path, points)
			if points >= readScore/2 {
				matched++
			}
		}
	}
	for _, name := range t.identifiers {
		count(name, k.identifiers[name])
	}
	for _, w := range t.words {
		if !l.common[w] {
			count(w, k.words[w])
		}
	}
	for _, pair := range t.pairs {
		sum += pairScore * k.words[pair] * u.weight(pair)
	}
	if about == 0 {
		return 0, 0, 0
	}
	return sum / math.Sqrt(length), matched, about
}

// pathPoints returns the points of a path of a prompt: it is a path of the context, the end of one,
// or ends with one. A name that most projects have needs its folder.
func (k *vocabulary) pathPoints(path string) (points float64, known bool) {
	for rest, more := path, true; more && rest != ""; _, rest, more = strings.Cut(rest, "/") {
		if isGeneric(rest) && !strings.Contains(rest, "/") {
			return 0, false
		}
		if p := k.paths[rest]; p > 0 {
			if !strings.Contains(rest, "/") && rest != path {
				p /= 2 // maybe of another folder
			}
			return p, true
		}
	}
	return 0, false
}

// leading is the number of bytes of a long text that say what it is about.
const leading = 300

// vocabularyOf collects the names and words of a context. What the work is about are the
// summary, the task, the first and the last request, plans, the todo list, an open question,
// failures, commits, the branch, and the names of changed files.
func (l *lexicon) vocabularyOf(c Checkpoint) *vocabulary {
	k := &vocabulary{words: map[string]float64{}, identifiers: map[string]float64{}, paths: map[string]float64{}}
	a, at := c.State.Analysis, c.State.Context
	left := maxContext
	add := func(s string, points float64) {
		s = s[:min(len(s), left)]
		left -= len(s)
		k.add(l.parse(s), points)
	}
	for _, s := range []string{c.Summary, a.CurrentTask, a.OpenQuestion} {
		add(s, centralScore)
	}
	for _, list := range [][]string{a.OpenOptions, a.NextSteps, a.Blockers} {
		for _, s := range list {
			add(s, centralScore)
		}
	}
	for _, item := range a.Todo {
		add(item.Text, centralScore)
	}
	for w := range l.branchWords(at.GitBranch) {
		k.words[w] = centralScore
	}
	for path := range c.State.Files {
		k.addPath(path, changedScore)
	}
	for _, path := range at.FilesRead {
		k.addPath(path, readScore)
	}
	for _, commit := range a.Progress.Commits {
		k.commits = append(k.commits, commit.Hash)
		add(commit.Subject, centralScore)
	}
	for i, r := range a.Requests {
		if i == 0 || i == len(a.Requests)-1 {
			add(plain.Head(r.Text, leading), centralScore)
		}
		add(r.Text, wordScore)
		add(r.RepliesTo, wordScore)
	}
	for _, s := range a.Decisions {
		add(s, wordScore)
	}
	for _, command := range at.Commands {
		add(command.Text, wordScore)
	}
	k.pullRequests = a.Progress.PullRequests
	for _, f := range a.Facts {
		files := namedScore
		switch f.Kind {
		case Failure:
			add(f.Text, centralScore)
			add(f.Why, centralScore)
			files = changedScore
		case Reference:
			k.pullRequests = append(slices.Clone(k.pullRequests), f.Text)
		case Decision, Attempt, Rule:
			add(f.Text, wordScore)
		case Environment: // of any work
		}
		for _, path := range f.Files {
			k.addPath(path, files)
		}
	}
	add(plain.Head(a.Progress.Reported, leading), centralScore)
	add(a.Progress.Reported, wordScore)
	k.failing = len(a.Blockers) > 0
	k.offers = a.OpenQuestion != "" || len(a.OpenOptions)+len(a.NextSteps) > 0 || strings.Contains(a.Progress.Reported, "1. ")
	k.addPlans(l, c)
	return k
}

// add adds the names and words of a text.
func (k *vocabulary) add(t *textWords, points float64) {
	for _, list := range [][]string{t.words, t.pairs} {
		for _, w := range list {
			k.words[w] = max(k.words[w], points)
		}
	}
	for _, name := range t.identifiers {
		k.identifiers[name] = max(k.identifiers[name], identifierScore*points)
	}
	for _, path := range t.paths {
		k.paths[path] = max(k.paths[path], namedScore)
	}
}

// addPlans adds the titles of the context's plans: an offered or accepted one, one in the
// agent's last message, and one in a file.
func (k *vocabulary) addPlans(l *lexicon, c Checkpoint) {
	a := c.State.Analysis
	title := func(s string) {
		if words := l.parse(s).words; len(words) > 1 {
			k.plans = append(k.plans, words)
		}
	}
	if s, found := strings.CutPrefix(a.CurrentTask, "plan offered: "); found {
		s, _, _ = strings.Cut(s, "; last asked: ")
		title(s)
		k.planned = true
	}
	k.planned = k.planned || c.Cause == Plan || len(a.NextSteps) > 0
	if n := len(a.Requests); n > 0 && l.has(l.parse(plain.Head(a.Requests[n-1].Text, leading)).all, planList) {
		k.planned = true // it was asked for
	}
	// A plan in the agent's last message, which may be on one line.
	if at := strings.Index(strings.ToLower(a.Progress.Reported), "plan"); at >= 0 && strings.Contains(a.Progress.Reported[at:], "1. ") {
		k.planned = true
		heading, _, _ := strings.Cut(a.Progress.Reported[at:], "1. ")
		heading, _, _ = strings.Cut(strings.TrimSpace(heading), "\n")
		if _, s, found := strings.Cut(heading, ":"); found && len(s) <= leading {
			title(strings.Trim(s, "* "))
		}
	}
	for path := range c.State.Files {
		if lower := strings.ToLower(path); strings.HasSuffix(lower, ".md") && strings.Contains(lower, "plan") {
			k.planned = true
		}
	}
}

// addPath adds a path and all its ends, its folder and the folder's ends with a slash, the
// words of its base name (invoice and list for InvoiceList.tsx), and the base name without
// extension as an identifier, unless that is short or generic.
func (k *vocabulary) addPath(path string, points float64) {
	words := wordScore
	if points == changedScore {
		words = centralScore
	}
	addWord := func(w string, points float64) {
		if w = strings.ToLower(w); len(w) >= leastOfName && !isGeneric(w) {
			w = stemmed(w)
			k.words[w] = max(k.words[w], points)
		}
	}
	folder, base := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
	name, _, _ := strings.Cut(base, ".")
	for _, part := range identifierParts(name) {
		addWord(part, words)
	}
	for _, part := range identifierParts(folder) {
		addWord(part, wordScore)
	}
	path, base = strings.ToLower(path), strings.ToLower(base)
	for rest, more := path, true; more && rest != ""; _, rest, more = strings.Cut(rest, "/") {
		k.paths[rest] = max(k.paths[rest], points)
	}
	stem, _, _ := strings.Cut(base, ".")
	if len(stem) >= leastOfName && !isGeneric(base) {
		k.identifiers[stem] = max(k.identifiers[stem], identifierScore*words)
		if !strings.ContainsAny(stem, "-_") {
			addWord(stem, identifierScore*words)
		}
	}
	if dir, below := strings.CutSuffix(path, "/"+base); below {
		for rest, more := dir, true; more && rest != ""; _, rest, more = strings.Cut(rest, "/") {
			if strings.Contains(rest, "/") {
				k.paths[rest] = max(k.paths[rest], points/2)
			}
		}
	}
}

// leastOfName is the minimum length of a word of a file's name that is compared, in bytes.
const leastOfName = 4

// isGeneric reports whether most projects have files with this name.
func isGeneric(base string) bool {
	stem, _, _ := strings.Cut(base, ".")
	switch stem {
	case "readme", "changelog", "license", "claude", "agents", "main", "index", "mod", "lib", "__init__", "package", "tsconfig",
		"makefile", "dockerfile", "go", "types", "utils", "config", "settings", "app", "cargo", "pyproject", "requirements", "setup", "test", "skill":
		return true
	}
	return false
}

// branchWords returns the words of a branch's name, or none for a trunk.
func (l *lexicon) branchWords(branch string) map[string]bool {
	words := map[string]bool{}
	if IsTrunk(branch) {
		return words
	}
	for _, w := range l.parse(strings.NewReplacer("/", " ", "-", " ", "_", " ", ".", " ").Replace(branch)).words {
		words[w] = true
	}
	return words
}

// sameTopic reports whether the names of two branches have an uncommon word in common. It
// ignores the part before the last slash, which names a person or a kind of work.
func (l *lexicon) sameTopic(a, b string) bool {
	words := l.branchWords(b[strings.LastIndexByte(b, '/')+1:])
	for w := range l.branchWords(a[strings.LastIndexByte(a, '/')+1:]) {
		if words[w] && !l.common[w] {
			return true
		}
	}
	return false
}
