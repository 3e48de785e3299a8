package recall

import (
	"slices"
	"strings"
)

// Prompt is the first prompt of a session.
type Prompt struct {
	Text string
	// Branch is the current branch, empty if HEAD is detached.
	Branch string
}

// Candidate is a saved context whose work a first prompt may continue.
type Candidate struct {
	Checkpoint

	// Offer is how much the session was told about it at its start.
	Offer Offer
}

// Offer is how much a session was told about a saved context at its start.
type Offer int

// The offers.
const (
	Shown   Offer = iota // its short form
	Unshown              // nothing
	Old                  // nothing, or that it exists: it is older than a day
)

// Verdict is the decision whether a prompt continues the work of a context, with its reason.
type Verdict struct {
	Related bool
	// Reason is the rule that decided.
	Reason Reason
	// Score is the evidence in common; it decides if no other rule does.
	Score float64
}

// Reason is the rule that decided a verdict. It never contains text of the prompt, so it
// may be logged.
type Reason string

// The reasons.
const (
	CarriesOut  Reason = "carries out its plan"
	Continues   Reason = "asks to continue"
	Replies     Reason = "only confirms or chooses"
	PullRequest Reason = "names the pull request"
	NamesCommit Reason = "names a commit"
	NamesBranch Reason = "names the branch"
	Scored      Reason = "names and words in common"
	OfAnother   Reason = "about another branch or pull request"
	TooLittle   Reason = "too little in common"
	Empty       Reason = "no words"
)

// The points of what a prompt and a context have in common.
const (
	changedScore    = 3.0 // the path of a file that the session changed
	readScore       = 1.5 // of one that it only read
	namedScore      = 0.5 // of one that only its texts name
	identifierScore = 1.5 // a name in the form of an identifier
	centralScore    = 1.0 // a word of what the work is about
	wordScore       = 0.5 // any other word of the context
	pairScore       = 0.5 // of the points of a word, for two adjacent ones
	branchScore     = 0.5 // the context's branch, unless IsTrunk
	backScore       = 0.5 // a word that refers back, such as "also" or "still"
)

// The minimum scores of a related prompt.
const (
	leastShown = 0.8
	leastWord  = 0.0125 // more for each of the prompt's names and words, up to manyWords
	leastOther = 1.4    // if the context was not shown, or is of another branch
	leastOld   = 2.0    // if it is old, or the prompt is about another branch or pull request
	// margin is the score by which a context has to exceed the one that was shown.
	margin = 0.4
)

const (
	// maxPrompt and maxContext limit the bytes read of a prompt and of a context.
	maxPrompt  = 8 << 10
	maxContext = 64 << 10
	manyWords  = 60
)

// planPrefix begins the prompt that the agent creates from an accepted plan.
const planPrefix = "Implement the following plan:"

// IsPlan reports whether the agent created a prompt from an accepted plan.
func IsPlan(prompt string) bool { return strings.HasPrefix(prompt, planPrefix) }

// Judge decides which of the candidates' work the prompt continues: it returns its index, -1
// for none, and a verdict on each. A prompt that carries out the plan of a context, or names its
// pull request, branch or a commit, is related to it. One that asks to continue, or that only
// confirms or chooses, is related to the candidate that was shown. Otherwise the score of what
// the prompt and the context have in common decides. Names and words that most candidates have
// count little.
func Judge(p Prompt, list []Candidate) (index int, verdicts []Verdict) {
	l := theLexicon()
	text, note := withoutNote(withoutCommand(p.Text[:min(len(p.Text), maxPrompt)]))
	t := l.parsePrompt(text)
	known := make([]*vocabulary, len(list))
	for i := range list {
		known[i] = l.vocabularyOf(list[i].Checkpoint)
	}
	usual := usualOf(known)
	index = -1
	for i, c := range list {
		j := judging{lexicon: l, prompt: p, text: t, lower: strings.ToLower(text), note: note, candidate: c, known: known[i], usual: usual}
		v := j.verdict()
		verdicts = append(verdicts, v)
		if v.Related && (index < 0 || v.exceeds(verdicts[index])) {
			index = i
		}
	}
	return index, verdicts
}

// exceeds reports whether v is so much stronger than best, the verdict on a candidate before it,
// that the prompt continues the candidate of v.
func (v Verdict) exceeds(best Verdict) bool {
	rank := func(r Reason) int {
		switch r {
		case PullRequest, NamesCommit, NamesBranch, CarriesOut:
			return 2
		case Scored:
			return 1
		default: // the prompt says nothing about the work
			return 0
		}
	}
	if a, b := rank(v.Reason), rank(best.Reason); a != b {
		return a > b && (a > 1 || v.Score > best.Score+margin)
	}
	return v.Score > best.Score+margin
}

// judging is the comparison of a prompt with one candidate.
type judging struct {
	*lexicon
	prompt Prompt
	text   *textWords
	// lower is the text of the prompt in lower case, note the agent's note about the session of
	// an accepted plan.
	lower, note string
	candidate   Candidate
	known       *vocabulary
	usual       usual
}

func (j *judging) verdict() Verdict {
	t, k, c := j.text, j.known, j.candidate
	if t.empty() {
		return Verdict{Reason: Empty}
	}
	branch := c.State.Context.GitBranch // empty if unknown
	same := branch == "" || branch == j.prompt.Branch
	topical := branch != "" && branch == j.prompt.Branch && !IsTrunk(branch)
	score, matched, about := k.score(t, j.lexicon, j.usual)
	related := func(r Reason) Verdict { return Verdict{Related: true, Reason: r, Score: score} }
	unknown := func(number string) bool { return k.identifiers["#"+number] == 0 }
	ofAnother := slices.ContainsFunc(t.numbers, unknown) || !same && (j.has(head(t.all), presentList) || j.has(head(t.all), hereList))
	switch {
	case j.carriesOut(matched, about):
		return related(CarriesOut)
	case t.namesPullRequest(k.pullRequests):
		return related(PullRequest)
	case t.namesCommit(k.commits):
		return related(NamesCommit)
	case !IsTrunk(branch) && branch != "" && namesBranch(j.lower, branch):
		return related(NamesBranch)
	}
	if c.Offer == Shown && !ofAnother {
		switch {
		case j.confirms(t), j.chooses(j.lower, k.offers):
			return related(Replies)
		case k.failing && len(t.all) <= short && about-matched <= 2 && j.has(t.all, failList):
			return related(Continues)
		case len(t.all) > 0 && j.continuing(t, topical || same && len(k.pullRequests) > 0, about, max(about-matched, 0)):
			return related(Continues)
		}
	}
	least := leastShown + leastWord*float64(min(about, manyWords))
	switch {
	case c.Offer == Old || ofAnother:
		least = leastOld
	case c.Offer != Shown || !same && !j.sameTopic(branch, j.prompt.Branch):
		least = max(least, leastOther)
	}
	if c.Offer == Shown && (matched > 0 || about == 0) {
		score += backScore * float64(j.back(t))
		if j.has(head(t.all), stillList) {
			score += backScore
		}
	}
	if c.Offer != Old && (topical || !same && j.sameTopic(branch, j.prompt.Branch)) {
		score += branchScore
	}
	enough := 1
	if c.Offer != Shown {
		enough = 2
	}
	switch {
	case matched >= enough && score >= least:
		return Verdict{Related: true, Reason: Scored, Score: score}
	case ofAnother:
		return Verdict{Reason: OfAnother, Score: score}
	default:
		return Verdict{Reason: TooLittle, Score: score}
	}
}

// carriesOut reports whether the prompt is the context's plan, has its title, or asks to carry
// it out. matched and about are as of score.
func (j *judging) carriesOut(matched, about int) bool {
	c, k := j.candidate, j.known
	if j.note != "" && slices.ContainsFunc(c.Sessions, func(id string) bool { return id != "" && strings.Contains(j.note, id) }) {
		return true
	}
	if slices.ContainsFunc(k.plans, j.leads) {
		return true
	}
	if IsPlan(j.prompt.Text) {
		return c.Cause == Plan && j.note == "" && len(k.plans) == 0
	}
	const long, named = 30, 2 // words
	if c.Offer == Old && matched < named {
		return false
	}
	if c.Offer == Shown && k.planned && len(j.text.all) <= short && about-matched <= 1 && j.asksToCarryOut(j.text) {
		return true
	}
	return k.planned && len(j.text.all) <= long && j.asksForPlan(j.text) && (matched > 0 || about == 0 || c.Offer == Shown && about < named)
}

// leads reports whether the prompt begins with a title: all its words, and few others between
// them.
func (j *judging) leads(title []string) bool {
	const fewest = 3
	if len(title) < fewest && !IsPlan(j.prompt.Text) {
		return false
	}
	for _, w := range title {
		if !j.text.leading[w] {
			return false
		}
	}
	return true
}

// namesBranch reports whether a text has the name of a branch.
func namesBranch(lower, branch string) bool {
	const shortest = 5
	branch = strings.ToLower(branch)
	if len(branch) < shortest {
		return false
	}
	for rest := lower; ; {
		at := strings.Index(rest, branch)
		if at < 0 {
			return false
		}
		before, after := byte(' '), byte(' ')
		if at > 0 {
			before = rest[at-1]
		}
		if rest = rest[at+len(branch):]; rest != "" {
			after = rest[0]
		}
		if !inBranch(before) && !inBranch(after) {
			return true
		}
	}
}

func inBranch(c byte) bool {
	return c == '-' || c == '_' || c == '/' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z'
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

// withoutNote removes the note about the transcript that the agent adds to an accepted
// plan, and returns it.
func withoutNote(prompt string) (text, note string) {
	before, after, _ := strings.Cut(prompt, "\nIf you need specific details from before exiting plan mode")
	return before, after
}

// withoutCommand removes the name of a command from the start of a prompt.
func withoutCommand(prompt string) string {
	name, rest, _ := strings.Cut(strings.TrimSpace(prompt), " ")
	if strings.HasPrefix(name, "/") && !strings.ContainsAny(name[1:], "/.\n") {
		return rest
	}
	return prompt
}
