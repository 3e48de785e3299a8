package authorship

import (
	"encoding/json"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// Slot is a session that is about to be written into a checkpoint.
type Slot struct {
	State    *session.State
	Stamp    string // of the state when it was read
	Notes    *tracking.Pending
	Files    []string // of the commit
	Share    tracking.Share
	Rest     Remaining
	Written  checkpoint.WrittenPrompts
	Complete bool // the whole transcript is stored
	// Tokens are those that the checkpoint counts.
	Tokens session.Tokens
	// Pending are the files that were pending before the commit.
	Pending     []string
	Attribution json.RawMessage
	// Title is the prompt of the turn that wrote most of the commit's lines, empty if that isn't
	// known.
	Title string
}

// Committed is a commit with its changes.
type Committed struct {
	Commit  git.OID
	Changes tracking.CommitChanges
	Ahead   *EarlyPrompts
	Lines   *EarlyDiff
}

// Remaining holds the pending files of a session that a commit left pending.
type Remaining struct {
	Paths []string // still pending
	// Withheld are the files that the session's state withholds after the commit.
	Withheld []string
	Entries  map[string]git.TreeEdit // their entries in the tree
	// Renamed maps paths whose steps have another name to the content that the session wrote.
	Renamed map[string]git.OID
}
