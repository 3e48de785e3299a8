package blameaccuracy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Add adds the lines of another history.
func (r *Result) Add(o Result) {
	if r.ByKind == nil {
		r.ByKind = map[Kind]Count{}
	}
	r.Total = r.Total.Add(o.Total)
	for kind, count := range o.ByKind {
		r.ByKind[kind] = r.ByKind[kind].Add(count)
	}
	r.Failures = append(r.Failures, o.Failures...)
}

// String returns the failure on one line.
func (f Failure) String() string {
	return fmt.Sprintf("seed %d %s %s: is of %s, blame %s has %s (%s)", f.Seed, f.Place, f.how(), f.Want, f.Commit, f.Got, f.kinds())
}

func (f Failure) how() string {
	if f.Wrong {
		return "wrong"
	}
	return "unknown"
}

func (f Failure) kinds() string {
	names := make([]string, 0, len(f.Kinds))
	for _, k := range f.Kinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

// method is the text of the page before the figures.
const method = "# The accuracy of blame\n\n" +
	"How often `entire blame` names the right author of a line. Random histories are played\n" +
	"in real repositories with the program's own hooks. Which session, turn and subagent\n" +
	"wrote a line, or that the person did, is known by construction; what is played and\n" +
	"compared (`internal/testkit/blameaccuracy`) shares no code with the program. At the end\n" +
	"every line of every file is compared with `entire blame --json`.\n\n" +
	"`make blame-accuracy` plays them and writes this page; `HISTORIES=500 SEED=1000` more or\n" +
	"others. It fails if fewer than 99 % of the lines are right or one is wrong. `make test`\n" +
	"plays a few.\n\n" +
	"## What is played\n\n" +
	"Two sessions of agents, alone and at once, in different files and in one; subagents; a\n" +
	"person before, after and between turns, not while a turn runs. They insert, change and\n" +
	"remove lines by edit tools and by shell commands (`sed`, `cat >>`, here-documents), make\n" +
	"files, move blocks within a file and to another one, rename files, indent, and run a\n" +
	"formatter. Commits take up everything, some files or some hunks; they are made by the\n" +
	"person or the agent, amended, reworded, squashed (`merge --squash`, `rebase -i` with\n" +
	"`fixup`), rebased, cherry-picked and reverted. Some of the work stays uncommitted.\n\n" +
	"No two lines are equal, and each has enough text for git to follow three of them. Blank\n" +
	"lines and lines of a bracket are there, too, and don't count.\n\n" +
	"## Whose a line is\n\n" +
	"| | |\n|---|---|\n" +
	"| changed text | the author of the change; for a formatter, the one who ran it |\n" +
	"| white space only | the author of the line is unchanged, and blame is `git blame -w` |\n" +
	"| a moved block, a renamed file | the author stays, as with `git blame -M -C`. Of what is moved to another file and not committed it is the one who moved it: git follows such lines only in commits. A move is committed whole. Where less than 40 letters and digits of one writer are together, git can't follow them either: then the one who moved them is right, too |\n" +
	"| what a revert brings back | the person who reverted, as git has it |\n" +
	"| a subagent's shell command | the subagent; if only its session is named, that counts as unknown |\n\n" +
	"A line is *right* if the person, or session, turn and subagent are the right ones;\n" +
	"*unknown* if the program says that it doesn't know one of them; else *wrong*.\n\n"

// Markdown returns the page with the figures of n histories.
func (r *Result) Markdown(histories, seed uint64) string {
	var b strings.Builder
	b.WriteString(method)
	fmt.Fprintf(&b, "## Figures\n\n%d histories, seeds from %d. A line counts in each row that holds of it.\n\n", histories, seed)
	b.WriteString("| lines | all | right | unknown | wrong | right |\n|---|---|---|---|---|---|\n")
	row := func(name string, c Count) {
		percent := "" // of the lines that are right, truncated
		if c.All() > 0 {
			share := 1000 * c.Right / c.All()
			percent = fmt.Sprintf("%d.%d %%", share/10, share%10)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s |\n", name, c.All(), c.Right, c.Unknown, c.Wrong, percent)
	}
	row("**all**", r.Total)
	for _, kind := range []Kind{
		ByTool, ByShell, BySubagent, Formatted, ByPerson, AtOnceApart, AtOnceTogether, MovedWithin, MovedBetween, Renamed, Indented,
		CommittedInPart, CommittedByAgent, Amended, Reworded, SquashedByMerge, SquashedByRebase, Rebased, Picked, BroughtBack, Uncommitted,
	} {
		if c := r.ByKind[kind]; c.All() > 0 {
			row(string(kind), c)
		}
	}
	b.WriteString("\n## What isn't right\n\n")
	if len(r.Failures) == 0 {
		b.WriteString("Nothing.\n")
		return b.String()
	}
	b.WriteString("| lines | | how they came to be |\n|---|---|---|\n")
	type group struct{ how, kinds string }
	groups := map[group]int{}
	for _, f := range r.Failures {
		groups[group{f.how(), f.kinds()}]++
	}
	sorted := slices.SortedFunc(maps.Keys(groups), func(a, b group) int {
		return cmp.Or(cmp.Compare(groups[b], groups[a]), cmp.Compare(a.how+a.kinds, b.how+b.kinds))
	})
	for _, g := range sorted {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", groups[g], g.how, g.kinds)
	}
	return b.String()
}

// Enough reports whether at least 99 % of the lines are right and none is wrong.
func (c Count) Enough() bool {
	const least, whole = 99, 100
	return c.Wrong == 0 && whole*c.Right >= least*c.All()
}
