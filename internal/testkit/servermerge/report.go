package servermerge

import (
	"fmt"
	"strings"
)

// Count counts the lines of histories by the program's answers, and its sentences and links.
type Count struct {
	// Lines are all lines, Session those that sessions wrote. Each line counts once for each clone
	// and state in which it is compared.
	Lines, Session int
	// Right lines have the session and turn that wrote them. A person's line is right if it is a
	// person's or not recorded; if no hook saw its commit, only the latter is.
	Right int
	// Unrecorded are lines of sessions of which the program says that it doesn't know.
	Unrecorded int
	// Wrong are all others. Of these Guessed are persons' lines whose commit no hook saw, and which
	// the program calls a person's; Claimed are persons' lines that it calls an agent's.
	Wrong, Guessed, Claimed int
	// Withheld are lines of persons who use the program, or wrote them before the first record, that
	// the program doesn't call a person's. Most of them are right.
	Withheld int
	// Sentences are answers of commands that say something false about what sessions wrote.
	Sentences int
	// Commits are those that add lines of sessions and name no checkpoint; Found were linked by
	// `entire link --find`. Strangers are commits that it linked to a session without a line there.
	Commits, Found, Strangers int
}

// Add returns the sum.
func (c Count) Add(o Count) Count {
	return Count{
		Lines: c.Lines + o.Lines, Session: c.Session + o.Session, Right: c.Right + o.Right, Unrecorded: c.Unrecorded + o.Unrecorded,
		Wrong: c.Wrong + o.Wrong, Guessed: c.Guessed + o.Guessed, Claimed: c.Claimed + o.Claimed, Withheld: c.Withheld + o.Withheld, Sentences: c.Sentences + o.Sentences,
		Commits: c.Commits + o.Commits, Found: c.Found + o.Found, Strangers: c.Strangers + o.Strangers,
	}
}

// Missed describes the goals that the figures miss, nil for none: no line is wrong, at most 1 % of
// the lines of sessions aren't recorded, no sentence is false, and all commits are linked.
func (c Count) Missed() []string {
	var missed []string
	miss := func(reached bool, format string, args ...any) {
		if !reached {
			missed = append(missed, fmt.Sprintf(format, args...))
		}
	}
	miss(c.Claimed == 0, "%d lines of persons are called an agent's", c.Claimed)
	miss(c.Wrong == 0, "%d of %d lines are wrong", c.Wrong, c.Lines)
	const few = 1000 // lines of sessions: of less, ten may be not recorded
	miss(100*c.Unrecorded <= max(c.Session, few), "%d of %d lines of sessions are not recorded", c.Unrecorded, c.Session)
	miss(c.Sentences == 0, "%d sentences are false", c.Sentences)
	miss(c.Found == c.Commits, "%d of %d commits are linked", c.Found, c.Commits)
	miss(c.Strangers == 0, "%d commits are linked to sessions without a line there", c.Strangers)
	return missed
}

// Result is the result of a history, or of several of one kind.
type Result struct {
	Count

	Kind     Kind
	Seed     uint64
	Failures []string
	Log      []string // events of the history
}

// Heading is the heading of the section of docs/rewriting.md with the table.
const Heading = "## Merged on a server"

// Markdown returns the section with the figures of n histories of each kind.
func Markdown(results []Result, n, seed uint64) string {
	var b strings.Builder
	b.WriteString(Heading + "\n\n" +
		"A server that merges pull requests runs no hooks. Random branches of recorded sessions, with lines of persons between, are merged\n" +
		"in each of these ways. The lines of main are compared with their known authors in the author's clone, there again without the\n" +
		"branch and after `gc --prune=now`, in a colleague's clone, and in the last two again after `entire link --find --write`.\n" +
		"`make server-merges` writes this section; `HISTORIES=500 SEED=1000` more or others.\n\n")
	fmt.Fprintf(&b, "%d histories of each kind, seeds from %d.\n\n", n, seed)
	b.WriteString("| merged by | lines | right | not recorded | wrong | false sentences | linked by `--find` |\n|---|---|---|---|---|---|---|\n")
	var sum Count
	row := func(name string, c Count) {
		links := "-"
		if c.Commits > 0 {
			links = fmt.Sprintf("%d of %d", c.Found, c.Commits)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %s |\n", name, c.Lines, c.Right, c.Unrecorded, c.Wrong, c.Sentences, links)
	}
	for i := range results {
		sum = sum.Add(results[i].Count)
		row(results[i].Kind.Name, results[i].Count)
	}
	row("**all**", sum)
	b.WriteString("\nA session's line is right if its session and turn are, a person's if no agent is named. Lines of which no hook saw the commit\n" +
		"(a colleague's without the program, those typed in the server's editor) are right if they are not recorded, and wrong if they\n" +
		"are called a person's. *Not recorded* are only lines of sessions.\n")
	return b.String()
}
