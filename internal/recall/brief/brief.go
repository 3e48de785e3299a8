// Package brief writes what a session is given of a saved context, within hard limits
// of length and tokens, whatever the saved context holds.
package brief

import (
	"cmp"
	"fmt"
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
	// Branch and Commit are the present HEAD.
	Branch, Commit string
	// Others are changes of other sessions to the same files.
	Others []Other
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
	// Whole, Hunks, Outlined and Named are the files by how much of them is included.
	Whole    []string `json:"files_whole,omitempty"`
	Hunks    []string `json:"files_hunks,omitempty"`
	Outlined []string `json:"files_outlined,omitempty"`
	Named    []string `json:"files_named,omitempty"`
}

// The shares of the limits.
const (
	digestCost   = 2200 * unit
	digestUnits  = 5000
	shortCost    = 1300 * unit // of a short brief's digest
	driftCost    = 2000 * unit // of all that drifted
	reservedCost = 400 * unit  // of the agent's own summary, if there is one
)

// Write returns the brief, within the limits for any material.
func Write(m Material) Brief {
	var b Brief
	switch m.Kind {
	case Notice:
		b = notice(m)
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

// notice returns a brief of two lines.
func notice(m Material) Brief {
	b := Brief{Message: "Checkpoint " + shownID(m) + ": " + saved(m)}
	if branch := shownLine(m.Checkpoint.State.Context.GitBranch, pathWidth); branch != "" {
		b.Message += " on branch " + branch
	}
	b.Parts = []string{b.Message + "\nNot loaded; if the request goes on with that work: `entire recall resume " + shownID(m) + "` prints it."}
	return b
}

// drift returns what differs from the saved context; an empty brief if nothing does.
func drift(m Material) Brief {
	c := m.Checkpoint.State.Context
	files := slices.DeleteFunc(views(m), func(v view) bool { return !v.moved })
	head := section{step: 1}
	if m.Commit != "" && (m.Branch != c.GitBranch || m.Commit != c.GitCommit) {
		head.lines = where(Material{Checkpoint: recall.Checkpoint{State: recall.State{Context: recall.Context{GitBranch: c.GitBranch, GitCommit: c.GitCommit}}}, Branch: m.Branch, Commit: m.Commit})
	}
	foreign := section{title: "**Other Sessions**:\n", lines: others(m), step: 1, more: "- … %d more\n"}
	if len(files)+len(head.lines)+len(foreign.lines) == 0 {
		return Brief{}
	}
	b := Brief{Message: "Changed since checkpoint: " + saved(m)}
	w := writing{material: m, files: files, cost: driftCost, head: b.Message + "\n"}
	w.digest = trimmed([]section{head, foreign}, size{digestUnits, driftCost / 2})
	w.into(&b)
	return b
}

// resumed returns a full brief or a short one.
func resumed(m Material) Brief {
	b := Brief{Message: "Resumed from checkpoint: " + saved(m)}
	w := writing{material: m, files: views(m), cost: tokens(MaxTokens), head: b.Message + "\n" + recorded(m) + "\n\n"}
	room := size{digestUnits, digestCost}
	if m.Kind == Short {
		room.cost, w.cost = shortCost, 2*shortCost
	}
	w.digest = trimmed(digest(m), room)
	w.into(&b)
	return b
}

// recorded returns the line that describes the context, and that it may not concern the
// next prompt.
func recorded(m Material) string {
	line := "Checkpoint " + shownID(m) + " recorded"
	if list := m.Checkpoint.Sessions; len(list) > 0 && list[0] != "" {
		line += " session " + shortID(list[0])
	}
	return line + why(m.Checkpoint.Cause) + "; ignore it if the new request is about something else."
}

func why(c recall.Cause) string {
	switch c {
	case recall.Clear:
		return " before its context was cleared"
	case recall.Plan:
		return " before its context was cleared for the accepted plan"
	case recall.Compact:
		return " before it was compacted"
	case recall.Exit:
		return " at its end"
	case recall.Threshold:
		return " when its context was nearly full"
	case recall.Lost:
		return " after it ended without a word"
	case recall.Requested:
		return " on request"
	}
	return ""
}

// writing is a brief that is being written.
type writing struct {
	material     Material
	files        []view
	head, digest string
	cost         int // of all parts
}

// into adds the files to the digest, in one part if all fit into it whole, and the
// agent's own summary if they leave room.
func (w *writing) into(b *Brief) {
	title := w.filesTitle()
	room := []size{{MaxUnits, w.cost - 2*unit}}
	room[0] = room[0].minus(sizeOf(w.head + w.digest)).minus(sizeOf(title))
	summary, reserved := compaction(w.material.Checkpoint.Compaction), size{units: reservedCost / unit * 4, cost: reservedCost}
	if len(summary.lines) == 0 || w.material.Kind != Full {
		reserved, summary.lines = size{}, nil
	}
	room[0] = room[0].minus(reserved)
	p := newPack(w.files, room)
	p.fill()
	elsewhere := ""
	second := "Files of checkpoint " + shownID(w.material) + ", continued:\n"
	if w.material.Parts > 1 && w.material.Kind == Full && !p.complete() {
		elsewhere = "- all in the next part\n"
		room[0] = room[0].minus(sizeOf(elsewhere))
		room[0].cost -= sizeOf(second).cost
		p = newPack(w.files, append(room, size{units: MaxUnits - utf16Len(second)}))
		p.fill()
	}
	here := p.names() + p.unnamed() + p.blocks(0)
	text := w.head + w.digest + title + cmp.Or(here, elsewhere)
	b.Parts = []string{text + trimmed([]section{summary}, p.room[0].plus(reserved))}
	if files := p.blocks(1); files != "" {
		b.Parts = append(b.Parts, second+files)
	}
	p.report(b)
}

// filesTitle returns the title of the files, which explains the states.
func (w *writing) filesTitle() string {
	if len(w.files) == 0 {
		return ""
	}
	const words = "**Working Files** (current: on disk as saved, by SHA-256"
	if !slices.ContainsFunc(w.files, func(v view) bool { return v.file.Omitted == "" }) {
		return words + "):\n" // there is no content to show
	}
	return fmt.Sprintf("%s; as they were saved: `entire recall show %s --file PATH`):\n", words, shownID(w.material))
}
