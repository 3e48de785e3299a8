// Package brief writes what a session is given of a saved context, within hard limits
// of length and tokens, whatever the saved context holds.
//
// A brief consists of sections in a fixed order, each below a line that begins with its
// title in asterisks. The titles are stable: Requests, State, Decisions, Next Steps, Open
// Question, Blockers, Other Sessions, Files, Files Read, Docs, Summary at Compaction,
// Where, Commands. Contexts of earlier versions, which have no requests, have Current Task
// and Description instead of Requests. A section without content is omitted, one that goes
// on in the second part has its title there again. Blocks of files follow, each below a
// line that begins with "### ".
package brief

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/recall"
)

// The hard limits of what is injected.
const (
	// MaxUnits is the maximum length of each string, in UTF-16 code units: the agent drops
	// longer ones.
	MaxUnits = 9900
	// MaxTokens is the maximum of CountTokens of all strings together.
	MaxTokens = 5000
	// MaxOpeningTokens is the maximum for an Opening.
	MaxOpeningTokens = 400
)

// Kind is the kind of a brief.
type Kind int

// The kinds.
const (
	// Full is for a session that continues the work.
	Full Kind = iota
	// Short is for one that was compacted: the agent has a summary already.
	Short
	// Drift is for a resumed session: only what changed meanwhile.
	Drift
	// Notice is two lines that name the saved context.
	Notice
	// Opening is for the start of a session whose first prompt is not known yet: the
	// task, its state, the files, and how to get more, within MaxOpeningTokens.
	Opening
)

// Present is the present state of a file.
type Present struct {
	Exists  bool
	Hash    string // as in File
	Content string // redacted; empty where it wasn't read
}

// Material is what a brief is made from.
type Material struct {
	Checkpoint recall.Checkpoint // with contents
	Kind       Kind
	Now        time.Time
	// Present is the present state of the context's files, Base their redacted contents
	// at the commit that the session began with.
	Present map[string]Present
	Base    map[string]string
	// Branch and Commit are the present HEAD, Subject is the redacted first line of its
	// message if it was committed after the checkpoint.
	Branch, Commit, Subject string
	// Commits are those of the repository that have work of the session, the most recent
	// first. Pushed is set if a remote-tracking branch has the session's last commit, Remote
	// is the branch if its name is known, and Unpushed is set if there are such branches and
	// none has it.
	Commits          []recall.Commit
	Remote           string
	Pushed, Unpushed bool
	// Others are changes of other sessions to the same files.
	Others []Other
	// Prompt is the first prompt of the session that is given the brief, empty if it is not
	// known.
	Prompt string
	// Parts is the number of strings that can be injected, 1 or 2.
	Parts int
}

// Other is another session that changed files of a checkpoint after it.
type Other struct {
	Session string
	Files   []string
	At      time.Time
}

// Brief is what is injected.
type Brief struct {
	// Message is the line for the user, and the first line of the text.
	Message string `json:"message"`
	// Parts are the strings, each shorter than MaxUnits, the first with the digest; empty
	// if there is nothing to report.
	Parts []string `json:"parts"`
	// Tokens is CountTokens of all parts.
	Tokens int `json:"tokens"`
	// Whole, Hunks and Named are the files by how much of them is included.
	Whole []string `json:"files_whole,omitempty"`
	Hunks []string `json:"files_hunks,omitempty"`
	Named []string `json:"files_named,omitempty"`
}

// The shares of the limits.
const (
	shortCost = 2600 * unit // of a short brief
	driftCost = 2000 * unit // of all that drifted
	// Contents of files have at most contentsShare of contentsWhole of a brief.
	contentsShare, contentsWhole = 3, 10
)

// Write returns the brief, within the limits for any material.
func Write(m Material) Brief {
	var b Brief
	switch m.Kind {
	case Notice:
		b.Message = noticed(m, pathWidth)
		b.Parts = []string{b.Message + "\nNot loaded; if the request goes on with that work: `entire recall resume " + shownID(m) + "` prints it."}
	case Drift:
		b = drift(m)
	case Opening:
		b = opening(m)
	default:
		b = resumed(m)
	}
	for i, part := range b.Parts {
		b.Parts[i] = strings.TrimRight(part, "\n")
		b.Tokens += CountTokens(b.Parts[i])
	}
	return b
}

// saved describes the context for the first line.
func saved(m Material) string {
	summary := cmp.Or(shownLine(m.Checkpoint.Summary, summaryWidth), "no summary")
	return summary + " (saved " + Ago(m.Now, m.Checkpoint.CreatedAt) + ")"
}

func shownID(m Material) string { return shownLine(m.Checkpoint.ID, 40) }

// noticed names the context and its branch, in so many bytes, for a session that may be about
// something else.
func noticed(m Material, width int) string {
	line := "Checkpoint " + shownID(m) + ": " + saved(m)
	if branch := shownLine(m.Checkpoint.State.Context.GitBranch, width); branch != "" {
		line += " on branch " + branch
	}
	return line
}

// drift returns what differs from the saved context; an empty brief if nothing does.
func drift(m Material) Brief {
	c := m.Checkpoint.State.Context
	files := slices.DeleteFunc(views(m), func(v view) bool { return !v.moved })
	var list []section
	if m.Commit != "" && (m.Branch != c.GitBranch || m.Commit != c.GitCommit) {
		list = append(list, section{title: "**Where**:\n", lines: []string{"- branch " + branchLine(m) + "\n"}})
	}
	if foreign := others(m); len(foreign.lines) > 0 {
		list = append(list, foreign)
	}
	if len(files)+len(list) == 0 {
		return Brief{}
	}
	b := Brief{Message: "Changed since checkpoint: " + saved(m)}
	w := writing{material: m, head: b.Message + "\n", cost: driftCost, contents: driftCost}
	w.write(&b, append(list, fileLines(m, files)), files)
	return b
}

// resumed returns a full brief or a short one, with the sections in their order.
func resumed(m Material) Brief {
	b := Brief{Message: "Resumed from checkpoint: " + saved(m)}
	w := writing{material: m, head: b.Message + "\n" + recorded(m) + "\n\n", cost: tokens(MaxTokens), contents: tokens(MaxTokens)}
	if m.Kind == Short {
		w.cost, w.contents = shortCost, 0
	}
	choice := choiceOf(m)
	files := slices.DeleteFunc(views(m), func(v view) bool { return !choice.edited(v) })
	a, c := m.Checkpoint.State.Analysis, m.Checkpoint.State.Context
	changed := fileLines(m, files).limited(900)
	changed.over = len(m.Checkpoint.State.Files) - len(files)
	list := []section{requests(a, newestWidth, newWidth, newWidth, newWidth, oldWidth).limited(1500)}
	if m.Kind != Short {
		for _, s := range told(m.Checkpoint) {
			list = append(list, s.limited(300))
		}
	}
	list = append(list,
		progress(m).limited(400), decided(a).limited(700), steps(a).limited(350), question(a).limited(240),
		bullets("**Blockers**:\n", a.Blockers).limited(250), others(m).limited(150), changed)
	if m.Kind != Short {
		list = append(list, readFiles(c, choice.read).limited(350),
			rows("**Docs**:\n", unnamedDocs(m)).limited(100), compaction(m.Checkpoint).limited(700).atMost(1100))
	}
	list = append(list, where(m).limited(200), commands(c.Commands).limited(250))
	w.write(&b, list, files)
	return b
}

// recorded returns the line that describes the context, and that it may not concern the
// next prompt.
func recorded(m Material) string {
	line := "Checkpoint " + shownID(m) + " recorded"
	if list := m.Checkpoint.Sessions; len(list) > 0 && list[0] != "" {
		line += " session " + shortID(list[0])
	}
	line += map[recall.Cause]string{
		recall.Clear:     " before its context was cleared",
		recall.Plan:      " before its context was cleared for the accepted plan",
		recall.Compact:   " before it was compacted",
		recall.Exit:      " at its end",
		recall.Threshold: " when its context was nearly full",
		recall.Lost:      " after it ended without a word",
		recall.Requested: " on request",
	}[m.Checkpoint.Cause]
	return line + "; ignore it if the new request is about something else."
}
