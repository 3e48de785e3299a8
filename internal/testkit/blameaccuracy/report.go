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
	r.Alone, r.Together = r.Alone.Add(o.Alone), r.Together.Add(o.Together)
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
	"others. It fails if a goal of the first table below is missed. `make test` plays a few.\n\n" +
	"## What is played\n\n" +
	"Two sessions of agents, in half of the histories one at a time, in the others also at once,\n" +
	"in different files and in one; subagents; a person. They insert, change and remove\n" +
	"lines by edit tools and by shell commands (`sed`, `cat >>`, here-documents), make\n" +
	"files, move blocks within a file and to another one, rename files, indent, and run a\n" +
	"formatter. Commits take up everything, some files or some hunks; they are made by the\n" +
	"person or the agent, amended, reworded, squashed (`merge --squash`, `rebase -i` with\n" +
	"`fixup`), rebased, cherry-picked and reverted. Some of the work stays uncommitted.\n\n" +
	"Turns end with a stop, by Esc (another prompt follows, or none), by a kill of the client, whose\n" +
	"last call may lack its result (a new session follows, or the same is resumed), or without any\n" +
	"event. The person writes between turns, right before a prompt (whose snapshot may be taken only\n" +
	"after the first edit), between Esc and the next prompt, in a turn in other files (also while a\n" +
	"command runs), and in histories of two sessions at once also in the agent's file; writes what a\n" +
	"refused edit would have written; and commits while a turn runs. A formatter rewrites a file\n" +
	"0.3 s after the agent's call; a watcher touches files that changed, or writes them again. Between\n" +
	"steps pass 0 to 2 s. Agents read files before they edit them.\n\n" +
	"No two lines are equal, and each has enough text for git to follow three of them. Blank\n" +
	"lines and lines of a bracket are there, too, and don't count.\n\n" +
	"## Whose a line is\n\n" +
	"| | |\n|---|---|\n" +
	"| changed text | the author of the change |\n" +
	"| white space only | the author of the line is unchanged, and blame is `git blame -w` |\n" +
	"| a moved block, a renamed file | the author stays, as with `git blame -M -C`. Of what is moved to another file and not committed it is the one who moved it: git follows such lines only in commits. A move is committed whole. Where less than 40 letters and digits of one writer are together, git can't follow them either: then the one who moved them is right, too |\n" +
	"| a line that a formatter changed, on save or run by an agent or the person | the author of the line is unchanged |\n" +
	"| what a revert brings back | the person who reverted, as git has it; a line that had only been formatted is its author's |\n" +
	"| a subagent's shell command | the subagent; if only its session is named, that counts as unknown |\n\n" +
	"A line is *right* if the person, or session, turn and subagent are the right ones;\n" +
	"*unknown* if the program says that it doesn't know one of them; else *wrong*.\n\n"

// Markdown returns the page with the figures of n histories.
func (r *Result) Markdown(histories, seed uint64) string {
	var b strings.Builder
	b.WriteString(method)
	fmt.Fprintf(&b, "## Figures\n\n%d histories, seeds from %d.\n\n", histories, seed)
	b.WriteString("| histories | lines | right | unknown | wrong | goal |\n|---|---|---|---|---|---|\n")
	group := func(name string, c Count, goal string) {
		percent := func(n int) string { return fmt.Sprintf("%d (%.2f %%)", n, 100*float64(n)/float64(max(1, c.All()))) }
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %s | %s |\n", name, c.All(), c.Right, percent(c.Unknown), percent(c.Wrong), goal)
	}
	group("one session at a time", r.Alone, "unknown < 3 %, wrong < 0.1 %")
	group("two at once, or a person in the agent's file in a turn", r.Together, "unknown < 8 %, none wrong")
	b.WriteString("\nA line counts in each row that holds of it.\n\n| lines | all | right | unknown | wrong | right |\n|---|---|---|---|---|---|\n")
	row := func(name string, c Count) {
		percent := "" // of the lines that are right, truncated
		if c.All() > 0 {
			share := 1000 * c.Right / c.All()
			percent = fmt.Sprintf("%d.%d %%", share/10, share%10)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s |\n", name, c.All(), c.Right, c.Unknown, c.Wrong, percent)
	}
	row("**all**", r.Total())
	for _, kind := range kinds() {
		if c := r.ByKind[kind]; c.All() > 0 {
			row(string(kind), c)
		}
	}
	b.WriteString("\n## What isn't right\n\n")
	if len(r.Failures) == 0 {
		b.WriteString("Nothing.\n")
		return b.String()
	}
	b.WriteString("Each line once, under that of its kinds whose lines are right least often.\n\n| kind | unknown | wrong |\n|---|---|---|\n")
	worst := map[Kind]Count{}
	for _, f := range r.Failures {
		kind := slices.MaxFunc(f.Kinds, func(a, b Kind) int { return cmp.Compare(r.ByKind[a].failed(), r.ByKind[b].failed()) })
		count := Count{Unknown: 1}
		if f.Wrong {
			count = Count{Wrong: 1}
		}
		worst[kind] = worst[kind].Add(count)
	}
	for _, kind := range slices.SortedFunc(maps.Keys(worst), func(a, b Kind) int {
		return cmp.Or(cmp.Compare(worst[b].Wrong, worst[a].Wrong), cmp.Compare(worst[b].Unknown, worst[a].Unknown), cmp.Compare(a, b))
	}) {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", kind, worst[kind].Unknown, worst[kind].Wrong)
	}
	return b.String()
}

// failed returns the share of lines that aren't right.
func (c Count) failed() float64 { return 1 - float64(c.Right)/float64(max(1, c.All())) }

// Total counts the lines of all histories.
func (r *Result) Total() Count { return r.Alone.Add(r.Together) }

// Missed describes the goals that the figures miss, nil for none: where one session works at a
// time less than 0.1 % of the lines are wrong and 3 % unknown, otherwise none is wrong and less
// than 8 % are unknown.
func (r *Result) Missed() []string {
	var missed []string
	miss := func(reached bool, format string, args ...any) {
		if !reached {
			missed = append(missed, fmt.Sprintf(format, args...))
		}
	}
	a, t := r.Alone, r.Together
	miss(a.All() == 0 || 1000*a.Wrong < a.All(), "one session at a time: %d of %d lines are wrong", a.Wrong, a.All())
	miss(a.All() == 0 || 100*a.Unknown < 3*a.All(), "one session at a time: %d of %d lines are unknown", a.Unknown, a.All())
	miss(t.Wrong == 0, "at once: %d of %d lines are wrong", t.Wrong, t.All())
	miss(t.All() == 0 || 100*t.Unknown < 8*t.All(), "at once: %d of %d lines are unknown", t.Unknown, t.All())
	return missed
}
