// Package attribution determines who wrote the lines of a commit. It compares the states of a file,
// step by step, from the commit's parent to the commit, and follows each line from the step in
// which it appeared. Git determines the added and removed lines: every line of its diff gets one
// author, and no other line counts. docs/formats/attribution.md defines the figures.
//
// The package is pure: contents in, authors out.
package attribution

import (
	"bytes"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Author identifies the author of a line: a session by its id, or a person.
type Author string

// Person is the author of all lines that no agent wrote.
const Person Author = ""

// Origin describes how an agent wrote a line, as far as that is known.
type Origin struct {
	Turn string
	// Call is the tool use; Subagent and Type describe the subagent. They are known only for lines
	// of a commit that was recorded before.
	Call, Subagent, Type string
	// From is the file in which the line was written, if it was moved from another one since.
	From string
	// Text is the line as it was written, if it was only formatted since; else it is empty.
	Text string
	// Unsure reports that the author is unknown: another session that was at work at the same time
	// may have written the line, or the line was written in another file.
	Unsure bool
	// Unproven reports that the line is By's only if a call wrote it.
	Unproven bool
}

// State is the content of a file after a change.
type State struct {
	By Author
	// Turn is the agent's turn that made the change, if that is known.
	Turn    string
	Content []byte
	// Raw reports whether Content comes from the worktree, where git's filters may change it.
	Raw bool
	// Early reports that the file had this content before the base was committed.
	Early bool
	// Unsure reports that the lines which appear in it may have another author.
	Unsure bool
	// Unproven reports that the lines which appear in it are By's only if a call wrote them.
	Unproven bool
	// Known holds the known authors of the step's lines, nil if By wrote all of them.
	Known *Known
}

// Known has the authors of a step, by lines from 0.
type Known struct {
	// Written maps lines of the state to their authors. All other lines are the step's author's.
	Written map[int]Author
	// Origins are the origins of lines in Written. All other lines have the step's turn.
	Origins map[int]Origin
	// Modified marks lines of the state that replaced others.
	Modified map[int]bool
	// Removed maps lines of the base to the authors who removed them.
	Removed map[int]Author
}

// File is a file of a commit with its states before the commit.
type File struct {
	// Base is the content in the commit's parent, Final the content in the commit. Nil means no
	// file.
	Base, Final []byte
	// Earlier holds contents of commits before the base. Long lines of them that the base lacks are
	// unsure if an early state adds them, or the commit itself, whose changes have no known time.
	Earlier [][]byte
	// States are the states in between, oldest first.
	States []State
	// By is the author of the changes between the last state and Final, and Turn the turn in which
	// By made them. Unproven reports that they are By's only if a call wrote them.
	By       Author
	Turn     string
	Unproven bool
	// Hunks are the hunks of git's diff.
	Hunks []git.Hunk
}

// Line is a line of git's diff.
type Line struct {
	// Number is its position in the file, from 0: in Final for an added line, in Base for a removed
	// one.
	Number int
	By     Author
	// Origin is the origin of the line in the state that added it.
	Origin
	// Modified reports that an added line replaced a line of another author or of the base, or that
	// a removed line was replaced by another.
	Modified bool
}

// Lines holds all lines of git's diff of a file.
type Lines struct {
	Added, Removed []Line
	// Gone holds significant lines that an earlier state of the file had and Final lacks.
	Gone []Gone
}

// Gone is a line that the base or a state had and the file no longer has.
type Gone struct {
	// Text is the line without surrounding white space.
	Text string
	// By wrote it. Base reports that the base has it, so that its author isn't known.
	By Author
	Origin
	Base bool
	// Remover removed it, in RemoverTurn.
	Remover     Author
	RemoverTurn string
}

// Attribute determines who wrote the lines of the file's diff, and who removed the removed ones.
func (f File) Attribute() Lines {
	h := newHistory(f)
	h.continueFrom(addedBy(f.Hunks, len(h.final)))
	h.run(func(State) {})
	return h.reconcile(f.Hunks)
}

// Part is a line of a former content, from 0, with the number of its tokens that another line has.
type Part struct{ Line, Tokens int }

// Origins returns for each line of now the lines of was from which its tokens come, none if it is
// new or has new tokens. A line without words has those of the line before it.
func Origins(was, now []byte) [][]Part {
	t := newTexts()
	a, b := t.split(trimmed(was)), t.split(trimmed(now))
	gaps, formatted := t.compare(a, b)
	origins := make([][]Part, len(b))
	at := gap{}
	for _, g := range append(slices.Clone(gaps), gap{len(a), len(a), len(b), len(b)}) {
		for i := at.bEnd; i < g.b; i++ {
			origins[i] = []Part{{at.aEnd + i - at.bEnd, max(1, len(t.words(b[i])))}}
		}
		for i := g.b; i < g.bEnd; i++ {
			if origins[i] = formatted[i]; i > 0 && !t.isSignificant(b[i]) {
				origins[i] = origins[i-1]
			}
		}
		at = g
	}
	return origins
}

// Follow returns for each line of now the number of the same line in was, from 0, or -1 if was
// lacks it. Lines are the same if they are equal except for surrounding white space, or if now has
// the tokens of the other line and is only formatted; of several lines it is the one with most.
func Follow(was, now []byte) []int {
	origins := Origins(was, now)
	lines := make([]int, 0, len(origins))
	for _, parts := range origins {
		line := none
		if len(parts) > 0 {
			line = slices.MaxFunc(parts, func(p, q Part) int { return p.Tokens - q.Tokens }).Line
		}
		lines = append(lines, line)
	}
	return lines
}

// trimmed returns a content without white space around its lines.
func trimmed(content []byte) []byte {
	out := make([]byte, 0, len(content)+1)
	for line := range bytes.Lines(content) {
		out = append(append(out, bytes.TrimSpace(line)...), '\n')
	}
	return out
}

// AllBy returns the lines of a diff with one author for all of them.
func AllBy(by Author, hunks []git.Hunk) Lines {
	var all Lines
	for _, k := range hunks {
		for i := range k.NewLines {
			all.Added = append(all.Added, Line{Number: newSpan(k).from + i, By: by, Modified: i < k.OldLines})
		}
		for i := range k.OldLines {
			all.Removed = append(all.Removed, Line{Number: oldSpan(k).from + i, By: by, Modified: i < k.NewLines})
		}
	}
	return all
}
