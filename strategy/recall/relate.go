package recall

import (
	"strings"
)

// Prompt is the first prompt of a session.
type Prompt struct {
	Text string
	// Branch is the current branch, empty if HEAD is detached.
	Branch string
}

// Verdict is the decision whether a prompt continues the work, with its reason.
type Verdict struct {
	Related bool
	// Reason is the rule that decided.
	Reason Reason
	// Score is the sum of the evidence; it decides if no other rule does.
	Score float64
}

// Reason is the rule that decided a verdict. It never contains text of the prompt, so it
// may be logged.
type Reason string

// The reasons.
const (
	AcceptedPlan Reason = "plan accepted in that session"
	Continues    Reason = "asks to continue"
	Replies      Reason = "only confirms or chooses"
	PullRequest  Reason = "names the pull request"
	NamesCommit  Reason = "names a commit"
	Scored       Reason = "paths and words in common"
	Incomparable Reason = "another language"
	TooLittle    Reason = "too little in common"
	Empty        Reason = "no words"
)

// The evidence: the score of each match, and the minimum score of a related prompt.
const (
	pathScore       = 3.0 // a path, or a base name that few files have
	namedScore      = 1.0 // a path named in a request, but not read or changed
	genericScore    = 0.5 // a base name that most projects have, such as README.md
	identifierScore = 1.0 // a name in the form of an identifier
	wordScore       = 1.0
	commonScore     = 0.25 // a word that could occur in most requests to an agent
	branchScore     = 0.5  // a word of the branch, in addition to wordScore
	sameBranchScore = 1.0  // the context's branch, unless IsTrunk; or a topic in both branches' names
	todoShare       = 0.6  // the share of a todo item's words that a prompt must have to match it

	threshold = 2.0
	// typedThreshold is the threshold for a prompt typed by a person on the branch of the
	// context: such a prompt is short and describes its subject much less than a plan.
	typedThreshold = 1.0
	// maxPrompt and maxContext limit the bytes read of a prompt and of a context.
	maxPrompt  = 8 << 10
	maxContext = 256 << 10
)

// planPrefix begins the prompt that the agent creates from an accepted plan.
const planPrefix = "Implement the following plan:"

// IsPlan reports whether the agent created a prompt from an accepted plan.
func IsPlan(prompt string) bool { return strings.HasPrefix(prompt, planPrefix) }

// Judge decides whether the prompt continues the work recorded in c. The rules apply in
// this order: a plan is related to the context in which it was accepted; a prompt that asks
// to continue, that only confirms or chooses, or that names the pull request or a commit of
// the context is related. Otherwise the score of the common paths, identifiers, words and
// todo items decides. The required score is higher on another branch, and higher still if
// the prompt is about that branch. Words of two languages can't be compared: such a prompt
// is related if it is on the same branch.
func Judge(p Prompt, c Checkpoint) Verdict {
	l := newLexicon()
	t := l.parse(withoutNote(p.Text[:min(len(p.Text), maxPrompt)]))
	branch := c.State.Context.GitBranch // empty if unknown
	sameBranch := branch == "" || branch == p.Branch
	switch {
	case c.Cause == Plan && IsPlan(p.Text):
		return Verdict{Related: true, Reason: AcceptedPlan}
	case t.empty():
		return Verdict{Reason: Empty}
	case l.continuing(t, sameBranch):
		return Verdict{Related: true, Reason: Continues}
	case l.confirms(t):
		return Verdict{Related: true, Reason: Replies}
	}
	k := l.vocabularyOf(c)
	switch {
	case t.namesPullRequest(k.pullRequests):
		return Verdict{Related: true, Reason: PullRequest}
	case t.namesCommit(k.commits):
		return Verdict{Related: true, Reason: NamesCommit}
	}
	score, least := k.score(t, l, p.Branch), threshold
	switch {
	case sameBranch && !IsPlan(p.Text):
		least = typedThreshold
	case !sameBranch && hasPhrase(t.all, l.present):
		least = pathScore
	}
	if branch != "" && (branch == p.Branch && !IsTrunk(branch) || !sameBranch && l.sameTopic(branch, p.Branch)) {
		score += sameBranchScore
	}
	switch {
	case score >= least:
		return Verdict{Related: true, Reason: Scored, Score: score}
	case sameBranch && t.language != "" && len(k.languages) > 0 && !k.languages[t.language]:
		return Verdict{Related: true, Reason: Incomparable, Score: score}
	default:
		return Verdict{Reason: TooLittle, Score: score}
	}
}

// JudgeOther decides whether the prompt is about the work recorded in c, if the session was
// offered another context. Evidence that does not name the work, such as "continue" or the
// branch, refers to the offered context and does not count.
func JudgeOther(p Prompt, c Checkpoint) Verdict {
	l := newLexicon()
	t := l.parse(withoutNote(p.Text[:min(len(p.Text), maxPrompt)]))
	if t.empty() {
		return Verdict{Reason: Empty}
	}
	k := l.vocabularyOf(c)
	switch score := k.score(t, l, ""); {
	case t.namesPullRequest(k.pullRequests):
		return Verdict{Related: true, Reason: PullRequest, Score: score}
	case t.namesCommit(k.commits):
		return Verdict{Related: true, Reason: NamesCommit, Score: score}
	case score >= threshold:
		return Verdict{Related: true, Reason: Scored, Score: score}
	default:
		return Verdict{Reason: TooLittle, Score: score}
	}
}

// Exceeds reports whether v, a verdict on another context, is so much stronger than best,
// the verdict on the offered one, that the prompt continues the other context. It returns
// false unless best is Scored or Incomparable.
func (v Verdict) Exceeds(best Verdict) bool {
	switch best.Reason {
	case Incomparable:
		return true
	case Scored:
		return v.Reason != Scored || v.Score >= best.Score+threshold
	default:
		return false
	}
}

// score returns the sum of the evidence that the prompt and the context have in common. The
// score of words decreases with the length of the prompt, because a long prompt has words
// of any context.
func (k *vocabulary) score(t *textWords, l *lexicon, branch string) float64 {
	score := 0.0
	for _, path := range t.paths {
		// The path is the end of one in the context, or a folder of it.
		base := path[strings.LastIndexByte(path, '/')+1:]
		switch {
		case k.paths[path] && !isGeneric(base), strings.Contains(path, "/") && k.paths[path]:
			score += pathScore
		case k.named[path] && !isGeneric(base):
			score += namedScore
		case k.paths[base]:
			score += genericScore
		}
	}
	for _, name := range t.identifiers {
		if k.identifiers[name] {
			score += identifierScore
		}
	}
	words, total := 0.0, 0.0
	onBranch := l.branchWords(branch)
	for _, w := range t.words {
		weight := wordScore
		if l.common[w] {
			weight = commonScore
		}
		total += weight
		if k.words[w] {
			words += weight
			if onBranch[w] {
				words += branchScore
			}
		}
	}
	for _, item := range k.todo {
		const least = 2
		found := 0
		for _, w := range item {
			if t.has(w) {
				found++
			}
		}
		if len(item) >= least && float64(found)/float64(len(item)) >= todoShare {
			score += threshold
		}
	}
	const enough = 5 // the weight of the prompt's words above which each counts less
	return score + words*(enough/max(total, enough))
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

// IsTrunk reports whether a branch has a name common to most repositories, where work on
// any topic is done.
func IsTrunk(branch string) bool {
	switch branch {
	case "main", "master", "develop", "development", "dev", "trunk", "default", "next", "staging", "gh-pages":
		return true
	}
	return strings.HasPrefix(branch, "release")
}

// vocabulary holds the parts of a context that a prompt may refer to.
type vocabulary struct {
	words, identifiers map[string]bool
	// paths has the files' paths and all their ends: a/b/c.go, b/c.go and c.go.
	paths map[string]bool
	// named has the paths in the texts.
	named                 map[string]bool
	todo                  [][]string // the words of each item
	pullRequests, commits []string
	// languages has the languages of the texts.
	languages map[language]bool
}

// vocabularyOf collects the words of the requests, the task, the summary, the todo list,
// steps, decisions, commits, the branch, the names of files, and the agent's last text.
func (l *lexicon) vocabularyOf(c Checkpoint) *vocabulary {
	k := &vocabulary{words: map[string]bool{}, identifiers: map[string]bool{}, paths: map[string]bool{}, named: map[string]bool{}, languages: map[language]bool{}}
	a, at := c.State.Analysis, c.State.Context
	left := maxContext
	add := func(s string) *textWords {
		s = s[:min(len(s), left)]
		left -= len(s)
		t := l.parse(s)
		if t.language != "" {
			k.languages[t.language] = true
		}
		for _, w := range t.words {
			k.words[w] = true
		}
		for _, name := range t.identifiers {
			k.identifiers[name] = true
		}
		for _, path := range t.paths {
			k.named[path] = true
		}
		return t
	}
	for _, r := range a.Requests {
		add(r.Text)
		add(r.RepliesTo)
	}
	add(a.CurrentTask)
	add(c.Summary)
	for _, item := range a.Todo {
		k.todo = append(k.todo, add(item.Text).words)
	}
	for _, step := range a.NextSteps {
		k.todo = append(k.todo, add(step).words)
	}
	for _, s := range a.Decisions {
		add(s)
	}
	for w := range l.branchWords(at.GitBranch) {
		k.words[w] = true
	}
	add(a.OpenQuestion)
	add(a.Progress.Reported)
	for path := range c.State.Files {
		k.addPath(path)
	}
	for _, path := range at.FilesRead {
		k.addPath(path)
	}
	for _, commit := range a.Progress.Commits {
		k.commits = append(k.commits, commit.Hash)
		add(commit.Subject)
	}
	k.pullRequests = a.Progress.PullRequests
	return k
}

// addPath adds a path and all its ends, its folder and the folder's ends with a slash, the
// words of its base name (invoice and list for InvoiceList.tsx), and the base name without
// extension as an identifier, unless that is short or generic.
func (k *vocabulary) addPath(path string) {
	name, _, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ".")
	for _, part := range identifierParts(name) {
		if part = strings.ToLower(part); len(part) >= leastOfName && !isGeneric(part) {
			k.words[stemmed(part)] = true
		}
	}
	path = strings.ToLower(path)
	for rest, more := path, true; more && rest != ""; _, rest, more = strings.Cut(rest, "/") {
		k.paths[rest] = true
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	stem, _, _ := strings.Cut(base, ".")
	if len(stem) >= leastOfName && !isGeneric(base) {
		k.identifiers[stem] = true
		if !strings.ContainsAny(stem, "-_") {
			k.words[stemmed(stem)] = true
		}
	}
	if dir, below := strings.CutSuffix(path, "/"+base); below {
		for rest, more := dir, true; more && rest != ""; _, rest, more = strings.Cut(rest, "/") {
			if strings.Contains(rest, "/") {
				k.paths[rest] = true
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

// withoutNote removes the note about the transcript that the agent adds to an accepted
// plan.
func withoutNote(prompt string) string {
	before, _, _ := strings.Cut(prompt, "\nIf you need specific details from before exiting plan mode")
	return before
}
