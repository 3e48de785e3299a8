// Package memory combines the saved contexts of the sessions of a branch into one memory: what the
// branch is for, what is done, and which facts still stand. All functions are pure.
package memory

import (
	"time"

	"github.com/seed-3aff656d/entire/strategy/recall"
)

// Memory is what the sessions of a branch left for later ones.
type Memory struct {
	// Format is the version of the JSON.
	Format int    `json:"format"`
	Branch string `json:"branch,omitempty"`
	// Sessions are the sessions that it was made from, the latest first.
	Sessions []Session `json:"sessions"`
	// Purpose are the requests that began the work, the oldest first; one of each session.
	Purpose []Quote `json:"purpose,omitempty"`
	// Done are the commits of the sessions, the latest first.
	Done []Commit `json:"done,omitempty"`
	// Facts are the facts that stand, the latest first. A later fact about the same thing
	// replaces an earlier one.
	Facts []Fact `json:"facts,omitempty"`
	// Todo are the unfinished items and announced steps of the last session that had some.
	Todo []Quote `json:"todo,omitempty"`
	// Files are the files of the sessions.
	Files []File `json:"files,omitempty"`
}

// Session is a session of a branch.
type Session struct {
	ID string    `json:"id"`
	At time.Time `json:"at"` // of its last saved context
	// Person is the name of the person who ran it, empty for the reader's own sessions.
	Person string `json:"person,omitempty"`
}

// Quote is a text of a session.
type Quote struct {
	Text    string    `json:"text"`
	Session string    `json:"session"`
	At      time.Time `json:"at"`
}

// Commit is a commit of a session.
type Commit struct {
	Hash    string `json:"hash"`
	Subject string `json:"subject"`
	Session string `json:"session"`
}

// Fact is a fact with its session.
type Fact struct {
	recall.Fact

	Session string `json:"session"`
	// Hashes are the SHA-256 of the contents of Files when the session saved its context last, in
	// their order; empty where unknown.
	Hashes []string `json:"hashes,omitempty"`
}

// File is a file and what the sessions used it for.
type File struct {
	Path    string    `json:"path"`
	Use     Use       `json:"use"`
	Session string    `json:"session"` // that used it last
	At      time.Time `json:"at"`
	Hash    string    `json:"hash,omitempty"` // SHA-256, as in recall.File
}

// Use is what a file was used for.
type Use string

// The uses.
const (
	Changed  Use = "changed"
	Test     Use = "test" // changed, and a test
	Read     Use = "read" // to understand
	BySubagent Use = "read by a subagent"
)
