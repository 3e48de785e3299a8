package authorship

import (
	"encoding/json"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/journal"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// Slot is one session on its way into a checkpoint.
type Slot struct {
	State    *session.State
	Stamp    string // of the state when it was read
	Notes    *tracking.Pending
	Files    []string // of the commit
	Share    journal.Share
	Rest     Remaining
	Written  checkpoint.WrittenPrompts
	Complete bool // all of the transcript is stored
	// Pending are the files that were pending before the commit.
	Pending     []string
	Attribution json.RawMessage
	// Title is what was asked in the turn that wrote most of the commit's lines, empty if
	// that isn't known.
	Title string
}

// Committed is a commit and what it changed.
type Committed struct {
	Commit  git.OID
	Changes journal.Changes
	Ahead   *EarlyPrompts
	Lines   *EarlyDiff
}

// Remaining is what a commit left of a session's pending files.
type Remaining struct {
	Paths   []string                // still pending
	Entries map[string]gittree.Edit // what they are
	// Renamed are those of paths whose steps have another name, with what the
	// session wrote.
	Renamed map[string]git.OID
}
