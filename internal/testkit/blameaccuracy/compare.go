package blameaccuracy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Kind is a way in which lines are written or changed later.
type Kind string

// The kinds, in the order of the table.
const (
	ByTool           Kind = "by an edit tool"
	ByShell          Kind = "by a shell command"
	BySubagent       Kind = "by a subagent"
	Formatted        Kind = "rewritten by a formatter"
	ByPerson         Kind = "by the person"
	AtOnceApart      Kind = "two sessions at once, in two files"
	AtOnceTogether   Kind = "two sessions at once, in one file"
	MovedWithin      Kind = "block moved within its file"
	MovedBetween     Kind = "block moved to another file"
	Renamed          Kind = "file renamed"
	Indented         Kind = "indented"
	CommittedInPart  Kind = "commit of some files or hunks"
	CommittedByAgent Kind = "committed by the agent"
	Amended          Kind = "amended"
	Reworded         Kind = "reworded"
	SquashedByMerge  Kind = "merge --squash"
	SquashedByRebase Kind = "rebase -i, fixup"
	Rebased          Kind = "rebased"
	Picked           Kind = "cherry-picked"
	BroughtBack      Kind = "brought back by a revert"
	Uncommitted      Kind = "not committed"

	Interrupted     Kind = "turn ended by Esc, a prompt follows"
	InterruptedLast Kind = "turn ended by Esc, no prompt follows"
	Killed          Kind = "client killed in the turn"
	Unstopped       Kind = "turn without a stop or an Esc"
	CommittedInTurn Kind = "committed by the person in a turn"
	PersonInTurn    Kind = "by the person in a turn, in another file"
	PersonInCall    Kind = "by the person while a command ran, in another file"
	PersonInFile    Kind = "by the person in a turn, in the agent's file"
	PersonAtPrompt  Kind = "by the person right before a prompt"
	PersonAfterEnd  Kind = "by the person after Esc or a kill"
	PersonRefused   Kind = "by the person, the text of a refused edit"
	SavedFormatted  Kind = "formatted on save"
	Watched         Kind = "in a file that a watcher wrote again"
	ShellBetween    Kind = "by shell between two edits of another session"
)

// kinds returns all kinds in the order of the table.
func kinds() []Kind {
	return []Kind{
		ByTool, ByShell, BySubagent, Formatted, ByPerson, PersonInTurn, PersonInCall, PersonInFile, PersonAtPrompt, PersonAfterEnd,
		PersonRefused, AtOnceApart, AtOnceTogether, ShellBetween, Interrupted, InterruptedLast, Killed, Unstopped, SavedFormatted, Watched,
		MovedWithin, MovedBetween, Renamed, Indented, CommittedInPart, CommittedByAgent, CommittedInTurn, Amended, Reworded,
		SquashedByMerge, SquashedByRebase, Rebased, Picked, BroughtBack, Uncommitted,
	}
}

// Count counts lines by the result of blame.
type Count struct {
	// Right are lines with the right session, turn and subagent, or the person. Unknown are those
	// for which blame reports that one of these is unknown.
	Right, Unknown, Wrong int
}

// All returns the number of lines.
func (c Count) All() int { return c.Right + c.Unknown + c.Wrong }

// Add returns the sum.
func (c Count) Add(d Count) Count {
	return Count{c.Right + d.Right, c.Unknown + d.Unknown, c.Wrong + d.Wrong}
}

// Failure is a line that is wrong or unknown.
type Failure struct {
	Seed              uint64
	Place, Text       string
	Want, Got, Commit string
	Kinds             []Kind
	Wrong             bool
}

// Result has the results for the lines of histories.
type Result struct {
	// Alone counts the lines of histories in which one session works at a time, Together those of
	// histories with two sessions at once, or a person in the agent's file in a turn.
	Alone, Together Count

	ByKind   map[Kind]Count
	Failures []Failure
	Log      []string // events of the history
}

// blamed is the output of `entire blame --json`.
type blamed struct {
	Authors []struct {
		Kind     string `json:"kind"`
		Session  string `json:"session"`
		Call     string `json:"call"`
		Subagent string `json:"subagent"`
		Derived  bool   `json:"derived"`
		Turn     *struct {
			Prompt string `json:"prompt"`
		} `json:"turn"`
	} `json:"authors"`
	Lines []struct {
		Line   int    `json:"line"`
		Author int    `json:"author"`
		Commit string `json:"commit"`
		Text   string `json:"text"`
	} `json:"lines"`
}

// isTooShort reports whether the block around a line, of lines of one writer that were moved
// together, is too short for git to follow it to another file.
func (b blamed) isTooShort(i int, facts map[string]*fact) bool {
	const least = 40 // letters and digits, the limit of git blame -C
	of := func(n int) *fact { return facts[strings.TrimSpace(b.Lines[n].Text)] }
	isMoved := func(n int) bool {
		f := of(n)
		return b.Lines[n].Commit == b.Lines[i].Commit && (f == nil || f.mover != nil && f.writer == of(i).writer)
	}
	first, last := i, i
	for first > 0 && isMoved(first-1) {
		first--
	}
	for last+1 < len(b.Lines) && isMoved(last+1) {
		last++
	}
	size := 0
	for _, line := range b.Lines[first : last+1] {
		for _, c := range line.Text {
			if unicode.IsLetter(c) || unicode.IsDigit(c) {
				size++
			}
		}
	}
	return size < least
}

// compare compares all lines of the worktree.
func (w *world) compare(seed uint64) Result {
	w.Git("add", "-N", ".")
	result := Result{ByKind: map[Kind]Count{}, Log: w.log}
	var total Count
	for _, path := range w.tracked() {
		if len(w.text(path)) == 0 {
			continue
		}
		var out blamed
		if err := json.Unmarshal([]byte(w.Entire("blame", "--json", path)), &out); err != nil {
			w.TB.Fatalf("blame %s: %v", path, err)
		}
		if len(out.Lines) != len(w.text(path)) {
			w.TB.Fatalf("blame %s: %d lines, want %d", path, len(out.Lines), len(w.text(path)))
		}
		for i, line := range out.Lines {
			want := w.facts[strings.TrimSpace(line.Text)]
			if want == nil {
				continue
			}
			author := out.Authors[line.Author]
			got := writer{session: author.Session, subagent: author.Subagent}
			if author.Turn != nil {
				got.prompt = author.Turn.Prompt
			}
			by := want.writer
			if want.mover != nil && (line.Commit == "" || out.isTooShort(i, w.facts) && got == *want.mover) { // not followed by git
				by = *want.mover
			}
			count := judge(by, got, author.Kind == "unknown", author.Call != "")
			of := want.kinds
			if line.Commit == "" {
				of = append(slices.Clip(of), Uncommitted)
			}
			total = total.Add(count)
			for _, kind := range of {
				result.ByKind[kind] = result.ByKind[kind].Add(count)
			}
			if count.Right == 0 {
				result.Failures = append(result.Failures, Failure{
					Seed: seed, Place: fmt.Sprintf("%s:%d", path, line.Line), Text: strings.TrimSpace(line.Text),
					Want: by.String(), Got: author.Kind + " " + got.String(), Commit: line.Commit[:min(7, len(line.Commit))], Kinds: of, Wrong: count.Wrong > 0,
				})
			}
		}
	}
	if w.alone {
		result.Alone = total
	} else {
		result.Together = total
	}
	return result
}

// judge counts one line. Without a call its subagent is unknown.
func judge(want, got writer, unknown, call bool) Count {
	switch {
	case want == got:
		if unknown {
			return Count{Unknown: 1}
		}
		return Count{Right: 1}
	case unknown,
		want.session == got.session && got.prompt == "",
		want.session == got.session && want.prompt == got.prompt && got.subagent == "" && !call:
		return Count{Unknown: 1}
	}
	return Count{Wrong: 1}
}

func (w writer) String() string {
	if w.session == "" {
		return "person"
	}
	text := w.session[:8] + " " + w.prompt
	if w.subagent != "" {
		text += " " + w.subagent
	}
	return text
}
