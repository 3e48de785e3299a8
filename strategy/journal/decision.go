package journal

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitdiff"
	"github.com/seed-3aff656d/entire/session"
)

// Decision is what prepare-commit-msg decided about a commit that is being
// made. It is the journal: written before the trailer, obeyed by post-commit,
// and removed when all that it asks for is done. docs/formats/journal.md.
type Decision struct {
	// Nonce distinguishes this decision from earlier ones about the same id.
	Nonce string `json:"nonce"`
	// Worktree is the id of the worktree, empty for the main one.
	Worktree string `json:"worktree,omitempty"`
	// Parent is HEAD when it was made.
	Parent git.OID `json:"parent,omitempty"`
	// Keep are all ids that the message has to carry.
	Keep []checkpoint.ID `json:"keep"`
	// ID is the checkpoint to write, empty if there is nothing to write.
	ID checkpoint.ID `json:"id,omitempty"`
	// Amend reports whether ID exists and the commit replaces the one it belongs to.
	Amend bool `json:"amend,omitempty"`
	// Replaced are the ids whose commit this one takes the place of.
	Replaced []checkpoint.ID `json:"replaced,omitempty"`
	// Former are commits that carried ID before, so that they aren't taken for
	// the one that is being made.
	Former []git.OID `json:"former,omitempty"`
	// Shares is what each session has in the commit.
	Shares []Share `json:"shares,omitempty"`
	// Hint reports whether the message shows how to decline.
	Hint bool `json:"hint,omitempty"`
	// Prose is a digest of the message without trailers and comments.
	Prose string `json:"prose,omitempty"`
	// Git is the process that makes the commit.
	Git      int    `json:"git,omitempty"`
	GitStart uint64 `json:"git_start,omitempty"`

	Created time.Time `json:"created"`
	// Begun is a time, in whole seconds, that the commit's committer date is not
	// before: git sets the date when it begins, before it runs the hook that
	// decides. It is the epoch where the user sets the date, and zero in decisions
	// of older versions.
	Begun time.Time `json:"begun,omitzero"`

	path string // the file that it was read from, or written to
	// Abandoned are decisions about commits that were never made, whose ids are
	// in the message all the same: it was written for those commits.
	Abandoned []Decision
}

// Declined returns the decision without the checkpoint that it would have made.
func (d Decision) Declined() Decision {
	d.Keep = slices.DeleteFunc(d.Keep, func(id checkpoint.ID) bool { return id == d.ID })
	d.ID, d.Shares = "", nil
	return d
}

// Share is what a session and a commit have in common.
type Share struct {
	Session string        `json:"session"`
	Files   session.Paths `json:"files"`
	// Renamed are those of Files that the session left under another name, in
	// the order of their new ones.
	Renamed []Rename `json:"renamed,omitempty"`
}

// Rename is a file that was moved, copied or split off since a session left it.
type Rename struct {
	From session.Path `json:"from"`
	To   session.Path `json:"to"`
}

// RenamedFrom returns the other name under which the session left a file of the
// share; false if it had this one.
func (s Share) RenamedFrom(path string) (string, bool) {
	i, found := slices.BinarySearchFunc(s.Renamed, path, func(m Rename, path string) int { return cmp.Compare(string(m.To), path) })
	if !found {
		return "", false
	}
	return string(s.Renamed[i].From), true
}

// NameBefore returns the name under which the session left a file of the share.
func (s Share) NameBefore(path string) string {
	if from, ok := s.RenamedFrom(path); ok {
		return from
	}
	return path
}

// Changes is what a commit changes, by path.
type Changes map[string]gitdiff.Change

// ByPath returns the changes by path.
func ByPath(changes []gitdiff.Change) Changes {
	m := make(Changes, len(changes))
	for _, c := range changes {
		m[c.Path] = c
	}
	return m
}
