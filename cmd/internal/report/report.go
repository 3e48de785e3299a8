// Package report fills a [Report] with the work of sessions, from the index, commits, authors and
// snapshots, and renders it as an HTML page or as Markdown. Its texts are redacted.
//
// The contents of a Report may be hostile: prompts, names of files, diffs, names of
// authors. No text of it becomes markup, see page. docs/adr/0020-a-page.md has the reasons.
package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/index"
)

// Report is the data of a report.
type Report struct {
	// Name is the repository's name, Selection describes the selected turns.
	Name, Selection string
	// Made is the time of the report, in the time zone for all shown times.
	Made    time.Time
	Version string
	// Turns, Commits and Rewinds are ordered by time.
	Turns   []Turn
	Commits []Commit
	Rewinds []Rewind
	// Omitted is the number of selected turns that are not in Turns: the oldest ones.
	Omitted int
	// Prices has the date and the currency of the costs, Unpriced the models without a price.
	Prices   Prices
	Unpriced []string
}

// Prices describes the prices from which costs were computed.
type Prices struct{ Date, Currency string }

// Turn is the part of a session from a prompt to the next one.
type Turn struct {
	// ID is the fragment of the turn on the page. It stays the same in every report.
	ID             string
	Session, Agent string
	Branch         string
	At, Ended      time.Time
	// Title is the prompt as one line. The others are multi-line texts: the prompt, the
	// agent's texts, beginnings and ends of commands' output, and the texts and actions of
	// subagents.
	Title, Prompt, Answer, Output, Subagents string
	Calls                                    []Call
	Files                                    []File
	Tokens, SubagentTokens                   index.Tokens
	Cost                                     float64
	// Commits are the indexes in Report.Commits of those that contain its work.
	Commits []int
	// Others are the names of the other repositories that it changed, too.
	Others []string
	// Before and After are the snapshots at its beginning and its end, empty if there is none.
	Before, After string
	// TakenBack reports that a rewind took back what it did.
	TakenBack bool
	// Show is the command that shows the whole turn, Back the one that rewinds to its
	// beginning; empty if there is none.
	Show, Back string
}

// Call is a tool call.
type Call struct {
	Tool, Text string
	// Outcome is passed, failed or unknown; Status is the exit status of a failed command,
	// 0 if unknown.
	Outcome  index.Outcome
	Status   int
	Subagent bool
	// Command is set for a shell command, Test for a call that runs tests.
	Command, Test bool
}

// Commit is a commit, of a range perhaps one without a checkpoint.
type Commit struct {
	OID, Subject, Author string
	At                   time.Time
	Checkpoints          []string
	Files                []File
	// Turns are the indexes in Report.Turns of those whose work it contains.
	Turns []int
}

// Share returns the sum of the shares of the commit's files.
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
	// Note describes the change if there is more to tell than its lines.
	Note  string
	Hunks []Hunk
}

// Share is the number of added lines by writer.
type Share struct{ Agent, Person, Unknown int }

// Total returns the number of all lines.
func (s Share) Total() int { return s.Agent + s.Person + s.Unknown }

// Plus returns the sum of both.
func (s Share) Plus(o Share) Share {
	return Share{s.Agent + o.Agent, s.Person + o.Person, s.Unknown + o.Unknown}
}

// changedLines returns the numbers of lines added to and removed from files.
func changedLines(files []File) (added, removed int) {
	for i := range files {
		added, removed = added+files[i].Added, removed+files[i].Removed
	}
	return added, removed
}

// Hunk is a changed region of a file.
type Hunk struct {
	// Old and New are the numbers of its first line in the old and the new file.
	Old, New int
	Blocks   []Block
}

// Block is a run of lines of a hunk with the same kind and writer.
type Block struct {
	Kind Kind
	By   Writer
	// Turn is the index in Report.Turns of the turn that wrote it, -1 if unknown.
	Turn int
	// Text has Lines lines, without the newline of the last one.
	Text  string
	Lines int
}

// Kind is the kind of a line of a diff.
type Kind uint8

// The kinds.
const (
	Kept Kind = iota
	Added
	Removed
)

// Writer is the writer of a line. It is known only for added lines.
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
	// Target is the restored snapshot, Rescue the snapshot of the files before the rewind.
	Target, Rescue string
	Paths          []string
}

// moment is an entry of the time line: the index of a turn, a commit or a rewind.
type moment struct {
	at                   time.Time
	turn, commit, rewind int // -1 for none
}

// moments returns the entries of the time line in order.
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

// totals holds the sums over a report.
type totals struct {
	tokens        index.Tokens
	cost          float64
	calls, failed int
	tests, broken int // calls that ran tests, and those of them that failed
	share         Share
	removed       int
	sessions      int
}

// linked returns the number of commits that name a checkpoint or contain work of a turn. Only those
// of a range may be others.
func (r *Report) linked() (n int) {
	for i := range r.Commits {
		if len(r.Commits[i].Checkpoints)+len(r.Commits[i].Turns) > 0 {
			n++
		}
	}
	return n
}

// CommitsText returns the number of commits, and of those among them that are linked.
func (r *Report) CommitsText() string {
	n, linked := len(r.Commits), r.linked()
	if n == linked {
		return plural(n, "linked commit")
	}
	return fmt.Sprintf("%s (%s linked)", plural(n, "commit"), count(int64(linked)))
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
			if c.Outcome == index.Failed {
				t.failed++
			}
			if c.Test {
				t.tests++
				if c.Outcome == index.Failed {
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
