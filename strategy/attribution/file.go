// Package attribution determines who wrote the lines of a commit. It compares what a
// file was, step by step, from the commit's parent to the commit, and follows
// each line from the step in which it appeared. What counts as added or removed
// is determined by git: every line of its diff gets one author, and no other line
// counts. docs/formats/attribution.md defines the figures.
//
// The package is pure: contents in, authors out.
package attribution

import (
	"github.com/seed-3aff656d/entire/internal/git/gitdiff"
)

// Author is who wrote a line: a session by its id, or a person.
type Author string

// Person is the author who is no agent.
const Person Author = ""

// Origin is how an agent wrote a line, as far as that is known.
type Origin struct {
	Turn string
	// Call is the tool use, Subagent and Type are the subagent's. They are known only of
	// lines of a commit that was recorded before.
	Call, Subagent, Type string
	// From is the file in which the line was written, if it was moved from another one since.
	From string
	// Unsure reports that it isn't known who wrote the line: another session, at work at the
	// same time, or whoever wrote it in another file.
	Unsure bool
}

// State is what a file was after a change.
type State struct {
	By Author
	// Turn is the agent's turn that made the change, if that is known.
	Turn    string
	Content []byte
	// Raw reports whether this is the content of the worktree, which git's filters may
	// make another content of.
	Raw bool
	// Early reports that the file was this before the base was committed.
	Early bool
	// Unsure reports that the lines which appear in it may be another's.
	Unsure bool
	// Known is what is known of the step's lines, nil if they are all By's.
	Known *Known
}

// Known has the authors of a step, by lines from 0.
type Known struct {
	// Written are the authors of lines of the state. Those that it lacks are
	// the step's author's.
	Written map[int]Author
	// Origins are those of lines in Written. Those that it lacks have the step's turn.
	Origins map[int]Origin
	// Modified are lines of the state that took the place of others.
	Modified map[int]bool
	// Removed are the authors of what became of lines of the base.
	Removed map[int]Author
}

// File is a file in a commit and on its way there.
type File struct {
	// Base is what the commit's parent has, Final what the commit has. Nil is
	// no file.
	Base, Final []byte
	// Earlier is what the file was in commits before the base. Long lines of it that the base
	// lacks were not written in an early state, nor by By, of whom it isn't known when.
	Earlier [][]byte
	// States are what it was in between, oldest first.
	States []State
	// By is who made the rest, what Final has and the last state doesn't, and Turn in
	// which turn.
	By   Author
	Turn string
	// Hunks are git's.
	Hunks []gitdiff.Hunk
}

// Line is a line of git's diff.
type Line struct {
	// Number is its place in the file, from 0: an added line's in Final, a
	// removed one's in Base.
	Number int
	By     Author
	// Origin is that of the state which added the line.
	Origin
	// Modified reports of an added line that it is where another author's
	// line stood, or one of the base; of a removed one that another line
	// is in its place.
	Modified bool
}

// Lines are all lines of git's diff of a file.
type Lines struct {
	Added, Removed []Line
	// Gone are significant lines that the file had once on the way and that Final lacks.
	Gone []Gone
}

// Gone is a line that a file had, in the base or a state, and has no longer.
type Gone struct {
	// Text is the line without the white space around it.
	Text string
	// By wrote it. Base reports that the base has it: who wrote it isn't known.
	By Author
	Origin
	Base bool
	// Remover removed it, in RemoverTurn.
	Remover     Author
	RemoverTurn string
}

// Attribute determines who wrote the lines of the file's diff, and who removed
// those that are gone.
func (f File) Attribute() Lines {
	h := newHistory(f)
	h.continueFrom(addedBy(f.Hunks, len(h.final)))
	h.run(func(State) {})
	return h.reconcile(f.Hunks)
}

// Follow returns for each line of now which line of was it is, from 0; -1 for one that was
// has not. Only lines that are equal but for white space around them are followed.
func Follow(was, now []byte) []int {
	t := &texts{known: map[string]int{}, trimmed: map[string]int{}}
	a, b := t.split(was), t.split(now)
	for _, list := range [][]int{a, b} {
		for i, line := range list {
			list[i] = t.loose[line]
		}
	}
	lines := make([]int, len(b))
	at := gap{}
	for _, g := range append(align(a, b), gap{len(a), len(a), len(b), len(b)}) {
		for i := at.bEnd; i < g.b; i++ {
			lines[i] = at.aEnd + i - at.bEnd
		}
		for i := g.b; i < g.bEnd; i++ {
			lines[i] = none
		}
		at = g
	}
	return lines
}

// AllBy are the lines of a diff of which one author made all.
func AllBy(by Author, hunks []gitdiff.Hunk) Lines {
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
