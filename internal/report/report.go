// Package report renders what sessions did as a page of HTML or as Markdown. It knows
// nothing of records: strategy/reporting fills a [Report], whose texts are redacted.
//
// What is in a Report may be hostile: prompts, names of files, diffs, names of authors. No
// text of it becomes markup: see page. docs/adr/0020-a-page.md has the reasons.
package report

import (
	"cmp"
	"slices"
	"time"
)

// Report is what is shown.
type Report struct {
	// Name is the repository's, Selection describes what was selected.
	Name, Selection string
	// Made is when, in the time zone in which times are shown.
	Made    time.Time
	Version string
	// Turns and Commits are in the order of time, as are Rewinds.
	Turns   []Turn
	Commits []Commit
	Rewinds []Rewind
	// Omitted is how many turns more were selected than Turns has: the oldest.
	Omitted int
	// Prices has the date and the currency of the costs, Unpriced the models without a price.
	Prices   Prices
	Unpriced []string
}

// Prices describes the prices that costs were counted with.
type Prices struct{ Date, Currency string }

// Turn is what happened from a prompt to the next one.
type Turn struct {
	// ID is the fragment of the turn on the page. It stays the same in every report.
	ID             string
	Session, Agent string
	Branch         string
	At, Ended      time.Time
	// Title is the prompt in one line; Prompt, Answer, Output and Subagents are texts of
	// many: what was asked, what the agent said, beginnings and ends of what commands
	// printed, and what subagents said and did.
	Title, Prompt, Answer, Output, Subagents string
	Calls                                    []Call
	Files                                    []File
	Tokens, SubagentTokens                   Tokens
	Cost                                     float64
	// Commits are the places in Report.Commits of those that took up its work.
	Commits []int
	// Before and After are the snapshots at its beginning and its end, empty if there is none.
	Before, After string
	// Show is the command that shows all of the turn, Back the one that goes back to its
	// beginning; empty if there is none.
	Show, Back string
}

// Call is a use of a tool.
type Call struct {
	Tool, Text string
	// Outcome is passed, failed or unknown; Status is the exit status of a failed command, 0 if
	// that isn't known.
	Outcome  Outcome
	Status   int
	Subagent bool
	// Command reports a shell command, Test that it runs tests.
	Command, Test bool
}

// Outcome is how a call ended.
type Outcome uint8

// The outcomes.
const (
	Unknown Outcome = iota
	Passed
	Failed
)

// Tokens counts tokens by kind.
type Tokens struct{ Input, CacheWrite, CacheRead, Output int64 }

// Total is the sum of all kinds.
func (t Tokens) Total() int64 { return t.Input + t.CacheWrite + t.CacheRead + t.Output }

// Plus is the sum of both.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{t.Input + o.Input, t.CacheWrite + o.CacheWrite, t.CacheRead + o.CacheRead, t.Output + o.Output}
}

// Commit is a commit that names a checkpoint.
type Commit struct {
	OID, Subject, Author string
	At                   time.Time
	Checkpoints          []string
	Files                []File
	// Turns are the places in Report.Turns of those that it took up.
	Turns []int
	// Merge reports that it has no diff of its own.
	Merge bool
}

// Share sums up the lines that the commit adds.
func (c *Commit) Share() (sum Share) {
	for i := range c.Files {
		sum = sum.Plus(c.Files[i].Share)
	}
	return sum
}

// File is a changed file.
type File struct {
	Path, OldPath  string
	Added, Removed int
	Share          Share
	Binary         bool
	// Note is how it was changed where that is worth knowing.
	Note  string
	Hunks []Hunk
}

// Share is how many added lines whom belong to.
type Share struct{ Agent, Person, Unknown int }

// Total is all of them.
func (s Share) Total() int { return s.Agent + s.Person + s.Unknown }

// Plus is the sum of both.
func (s Share) Plus(o Share) Share {
	return Share{s.Agent + o.Agent, s.Person + o.Person, s.Unknown + o.Unknown}
}

// changedLines sums up the lines that were added to and removed from files.
func changedLines(files []File) (added, removed int) {
	for i := range files {
		added, removed = added+files[i].Added, removed+files[i].Removed
	}
	return added, removed
}

// Hunk is one place at which a file differs.
type Hunk struct {
	// Old and New are its first lines.
	Old, New int
	Blocks   []Block
}

// Block is lines of a hunk that follow one another and have the same kind and writer.
type Block struct {
	Kind Kind
	By   Writer
	// Turn is the place in Report.Turns of the turn that wrote it, -1 if it isn't known.
	Turn int
	// Text has Lines lines, without the end of the last.
	Text  string
	Lines int
}

// Kind is what a line of a diff is.
type Kind uint8

// The kinds.
const (
	Kept Kind = iota
	Added
	Removed
)

// Writer is who wrote a line; only of those that are added it is known.
type Writer uint8

// The writers.
const (
	NoWriter Writer = iota
	Agent
	Person
	UnknownWriter
)

// Rewind is a rewind of the worktree.
type Rewind struct {
	At time.Time
	// Target is the snapshot that was restored, Rescue that of what was there before.
	Target, Rescue string
	Paths          []string
}

// moment is a thing on the time line: a turn, a commit or a rewind, by its place.
type moment struct {
	at                   time.Time
	turn, commit, rewind int // -1 for none
}

// moments returns what the time line has, in order.
func (r *Report) moments() []moment {
	list := make([]moment, 0, len(r.Turns)+len(r.Commits)+len(r.Rewinds))
	for i := range r.Turns {
		list = append(list, moment{r.Turns[i].At, i, -1, -1})
	}
	for i := range r.Commits {
		list = append(list, moment{r.Commits[i].At, -1, i, -1})
	}
	for i := range r.Rewinds {
		list = append(list, moment{r.Rewinds[i].At, -1, -1, i})
	}
	slices.SortStableFunc(list, func(a, b moment) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(b.turn, a.turn)) })
	return list
}

// totals are the sums over a report.
type totals struct {
	tokens        Tokens
	cost          float64
	calls, failed int
	tests, broken int // commands that ran tests, and how many of them failed
	share         Share
	removed       int
	sessions      int
}

func (r *Report) totals() (t totals) {
	sessions := map[string]bool{}
	for i := range r.Turns {
		turn := &r.Turns[i]
		sessions[turn.Session] = true
		t.tokens = t.tokens.Plus(turn.Tokens).Plus(turn.SubagentTokens)
		t.cost += turn.Cost
		for _, c := range turn.Calls {
			t.calls++
			if c.Outcome == Failed {
				t.failed++
			}
			if c.Test {
				t.tests++
				if c.Outcome == Failed {
					t.broken++
				}
			}
		}
	}
	for i := range r.Commits {
		t.share = t.share.Plus(r.Commits[i].Share())
		_, removed := changedLines(r.Commits[i].Files)
		t.removed += removed
	}
	t.sessions = len(sessions)
	return t
}
