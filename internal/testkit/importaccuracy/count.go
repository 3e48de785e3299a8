// Package importaccuracy measures how much of a record `entire import` restores from the agents'
// session files alone. It takes repositories that other programs recorded and hides their record,
// and plays histories that nothing recorded; then it imports, and compares the lines and commits
// with the hidden record, or with the writers that are known by construction. It shares no code
// with the program. docs/import-accuracy.md has the method and the figures.
package importaccuracy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Count counts lines and commits by what the import makes of them.
type Count struct {
	// Lines are those that a session wrote. Session have the right session, Prompt also the right
	// turn of it. Wrong have another session; Missing have none.
	Lines, Session, Prompt, Wrong, Missing int
	// Both are the wrong lines that a tool call of the named session wrote, too. Unshown are the
	// missing lines that no tool call of the right session shows.
	Both, Unshown int
	// Disputed are the lines whose recorded session or turn isn't the one by a replay of the edits,
	// which then counts, and those that the record has of an older commit than git.
	Disputed int
	// Others are lines that no session wrote, Claimed those of them that have one.
	Others, Claimed int
	// Unknown are lines of which the record doesn't show the writer, Found those of them that have a
	// session.
	Unknown, Found int
	// Commits are those with sessions; Linked have one of them, Strange have only others, and
	// Unlinked have none. Commits that are not linked to one of their sessions, and which none of
	// these shows, are Silent: they don't count.
	Commits, Linked, Strange, Unlinked, Silent int
	// Free are commits of no session, Taken those of them that have one.
	Free, Taken int
}

// Add returns the sum.
func (c Count) Add(o Count) Count {
	return Count{
		Lines: c.Lines + o.Lines, Session: c.Session + o.Session, Prompt: c.Prompt + o.Prompt, Wrong: c.Wrong + o.Wrong, Missing: c.Missing + o.Missing,
		Both: c.Both + o.Both, Unshown: c.Unshown + o.Unshown, Disputed: c.Disputed + o.Disputed, Others: c.Others + o.Others, Claimed: c.Claimed + o.Claimed,
		Unknown: c.Unknown + o.Unknown, Found: c.Found + o.Found,
		Commits: c.Commits + o.Commits, Linked: c.Linked + o.Linked, Strange: c.Strange + o.Strange, Unlinked: c.Unlinked + o.Unlinked, Silent: c.Silent + o.Silent,
		Free: c.Free + o.Free, Taken: c.Taken + o.Taken,
	}
}

// Missed describes the goals that the figures miss, nil for none: of the lines of sessions 90 % have
// the right session and 85 % the right turn, and less than 0.5 % a wrong session; less than 0.5 % of
// the other lines have one; and 95 % of the commits are linked to the right session.
func (c Count) Missed() []string {
	var missed []string
	miss := func(reached bool, format string, args ...any) {
		if !reached {
			missed = append(missed, fmt.Sprintf(format, args...))
		}
	}
	miss(100*c.Session >= 90*c.Lines, "%s of the lines have the right session, want 90 %%", share(c.Session, c.Lines))
	miss(100*c.Prompt >= 85*c.Lines, "%s of the lines have the right prompt, want 85 %%", share(c.Prompt, c.Lines))
	miss(1000*c.Wrong < 5*max(1, c.Lines), "%s of the lines have a wrong session, want less than 0.5 %%", share(c.Wrong, c.Lines))
	miss(1000*c.Claimed < 5*max(1, c.Others), "%s of the lines of no session have one, want less than 0.5 %%", share(c.Claimed, c.Others))
	miss(100*c.Linked >= 95*(c.Commits-c.Silent), "%s of the commits have the right session, want 95 %%", share(c.Linked, c.Commits-c.Silent))
	return missed
}

func share(part, all int) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f %%", 100*float64(part)/float64(all)) //nolint:mnd // percent
}

// Result has the figures of a repository or of a kind of history, and what was wrong.
type Result struct {
	Count

	Name     string
	Mistakes map[Mistake][]string
	// Log has the events of a played history.
	Log []string
}

// Mistake is a kind of wrong result.
type Mistake string

// The kinds of mistakes, in the order in which they are printed.
const (
	WrongLine      Mistake = "line with a wrong session"
	WrongTurn      Mistake = "line with a wrong turn"
	MissingLine    Mistake = "line without its session"
	ClaimedLine    Mistake = "line of no session with one"
	StrangeCommit  Mistake = "commit with only wrong sessions"
	UnlinkedCommit Mistake = "commit without its session"
	TakenCommit    Mistake = "commit of no session with one"
	// DisputedLine is no mistake of the import.
	DisputedLine Mistake = "line of which the record is doubtful"
)

func mistakes() []Mistake {
	return []Mistake{WrongLine, ClaimedLine, WrongTurn, MissingLine, StrangeCommit, TakenCommit, UnlinkedCommit, DisputedLine}
}

// fail records a mistake.
func (r *Result) fail(kind Mistake, format string, args ...any) {
	if r.Mistakes == nil {
		r.Mistakes = map[Mistake][]string{}
	}
	r.Mistakes[kind] = append(r.Mistakes[kind], fmt.Sprintf(format, args...))
}

// Sample prints some mistakes of each kind, spread evenly over all.
func (r *Result) Sample(most int) string {
	var b strings.Builder
	for _, kind := range mistakes() {
		all := r.Mistakes[kind]
		if len(all) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s: %d\n", kind, len(all))
		step := max(1, len(all)/most)
		for i := 0; i < len(all) && i/step < most; i += step {
			fmt.Fprintf(&b, "  %s\n", all[i])
		}
	}
	return b.String()
}

// Merge adds the results of the same name, in order of their first appearance.
func Merge(results []Result) []Result {
	var merged []Result
	for i := range results {
		at := slices.IndexFunc(merged, func(m Result) bool { return m.Name == results[i].Name })
		if at < 0 {
			merged = append(merged, Result{Name: results[i].Name, Mistakes: map[Mistake][]string{}})
			at = len(merged) - 1
		}
		merged[at].Count = merged[at].Add(results[i].Count)
		for kind := range maps.Keys(results[i].Mistakes) {
			merged[at].Mistakes[kind] = append(merged[at].Mistakes[kind], results[i].Mistakes[kind]...)
		}
	}
	return merged
}

// Table returns the figures as a table of Markdown, with a row for each result.
func Table(results []Result) string {
	var b strings.Builder
	b.WriteString("| | lines | session | prompt | wrong | missing | others: claimed | commits | linked | wrong | missing | others: linked |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	var sum Count
	row := func(name string, c Count) {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %d (%s) | %d | %d of %d | %d | %s | %d | %d | %d of %d |\n", name, c.Lines, share(c.Session, c.Lines), share(c.Prompt, c.Lines),
			c.Wrong, share(c.Wrong, c.Lines), c.Missing, c.Claimed, c.Others, c.Commits-c.Silent, share(c.Linked, c.Commits-c.Silent), c.Strange, c.Unlinked-c.Silent, c.Taken, c.Free)
	}
	for i := range results {
		sum = sum.Add(results[i].Count)
		row(results[i].Name, results[i].Count)
	}
	if len(results) > 1 {
		row("**all**", sum)
	}
	return b.String()
}
