package tracking

import (
	"cmp"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// Decision is the decision of prepare-commit-msg about a commit in progress, an entry of the
// journal: written before the trailer, carried out by post-commit, and removed when that is
// complete. See docs/formats/journal.md.
type Decision struct {
	// Nonce distinguishes this decision from earlier ones about the same id.
	Nonce string `json:"nonce"`
	// Worktree is the id of the worktree, empty for the main one.
	Worktree string `json:"worktree,omitempty"`
	// Parent is HEAD at the time of the decision.
	Parent git.OID `json:"parent,omitempty"`
	// Keep are all ids that the message has to carry.
	Keep []checkpoint.ID `json:"keep"`
	// ID is the checkpoint to write, empty for none.
	ID checkpoint.ID `json:"id,omitempty"`
	// Amend reports whether ID exists and the commit replaces the one it belongs to.
	Amend bool `json:"amend,omitempty"`
	// Replaced are the ids of the commits that this one replaces.
	Replaced []checkpoint.ID `json:"replaced,omitempty"`
	// Former are the commits that carried ID before, to distinguish them from the one being
	// made.
	Former []git.OID `json:"former,omitempty"`
	// Copies are the commits that git copied or folded into the commit, if sessions have changed
	// more in it.
	Copies []git.OID `json:"copies,omitempty"`
	// Shares are the sessions' shares of the commit.
	Shares []Share `json:"shares,omitempty"`
	// Hint reports whether the message shows how to decline.
	Hint bool `json:"hint,omitempty"`
	// Prose is a digest of the message without trailers and comments.
	Prose string `json:"prose,omitempty"`
	// Git is the process that makes the commit.
	Git      int    `json:"git,omitempty"`
	GitStart uint64 `json:"git_start,omitempty"`

	Created time.Time `json:"created"`
	// Begun is a lower bound, in whole seconds, of the commit's committer date: git sets the
	// date when it begins, before it runs the hook that decides. It is the epoch if the user
	// sets the date, and zero in decisions of older versions.
	Begun time.Time `json:"begun,omitzero"`

	path string // the file that it was read from, or written to
	// Abandoned are decisions about commits that were never made but whose ids are in the
	// message, which was written for them.
	Abandoned []Decision
}

// Declined returns the decision without the checkpoint that it would have made.
func (d Decision) Declined() Decision {
	d.Keep = slices.DeleteFunc(d.Keep, func(id checkpoint.ID) bool { return id == d.ID })
	d.ID, d.Shares = "", nil
	return d
}

// Share is the files that a session and a commit have in common.
type Share struct {
	Session string        `json:"session"`
	Files   session.Paths `json:"files"`
	// Renamed are those of Files that the session left under another name, in
	// the order of their new ones.
	Renamed []CommitRename `json:"renamed,omitempty"`
}

// CommitRename is a file that was moved, copied or split off since a session left it.
type CommitRename struct {
	From session.Path `json:"from"`
	To   session.Path `json:"to"`
}

// RenamedFrom returns the other name under which the session left a file of the
// share; false if it had this one.
func (s Share) RenamedFrom(path string) (string, bool) {
	i, found := slices.BinarySearchFunc(s.Renamed, path, func(m CommitRename, path string) int { return cmp.Compare(string(m.To), path) })
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

// CommitChanges are the changes of a commit, by path.
type CommitChanges map[string]git.Change

// ByPath returns the changes by path.
func ByPath(changes []git.Change) CommitChanges {
	m := make(CommitChanges, len(changes))
	for _, c := range changes {
		m[c.Path] = c
	}
	return m
}
