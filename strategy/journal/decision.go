package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// Decision is what prepare-commit-msg decided about a commit that is being
// made. It is the journal: written before the trailer, obeyed by post-commit,
// and removed when all that it asks for is done. docs/formats/journal.md.
type Decision struct {
	// Nonce tells this decision from an earlier one about the same id.
	Nonce string `json:"nonce"`
	// Worktree is the id of the worktree, empty for the main one.
	Worktree string `json:"worktree,omitempty"`
	// Parent is HEAD when it was made.
	Parent git.OID `json:"parent,omitempty"`
	// Keep are all ids that the message has to carry.
	Keep []checkpoint.ID `json:"keep"`
	// ID is the checkpoint to write, empty if there is nothing to write.
	ID checkpoint.ID `json:"id,omitempty"`
	// Amend says that ID exists and the commit replaces the one it belongs to.
	Amend bool `json:"amend,omitempty"`
	// Replaced are the ids whose commit this one takes the place of.
	Replaced []checkpoint.ID `json:"replaced,omitempty"`
	// Former are commits that carried ID before, so that they aren't taken for
	// the one that is being made.
	Former []git.OID `json:"former,omitempty"`
	// Shares is what each session has in the commit.
	Shares []Share `json:"shares,omitempty"`
	// Hint says that the message shows how to decline.
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

// begun returns the time that the commit's committer date is not before.
func (d Decision) begun() time.Time {
	if d.Begun.IsZero() {
		return d.Created.Add(-time.Minute)
	}
	return d.Begun
}

// Share is what a session and a commit have in common.
type Share struct {
	Session string        `json:"session"`
	Files   session.Paths `json:"files"`
	// Renamed are those of Files that the session left under another name, in
	// the order of their new ones.
	Renamed []Rename `json:"renamed,omitempty"`
}

// Rename is a file that somebody moved, copied or split off since a session
// left it.
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

// StaleAfter is the age at which a decision whose commit was never made is dropped.
const StaleAfter = 24 * time.Hour

func (r *Journal) Journal() string { return filepath.Join(r.RecordsDir(), "journal") }

// decisionPath returns the file of a new decision. The nonce in its name keeps
// two decisions about the same id apart, so that no lock is needed to write one:
// no other hook writes or replaces that file.
func (r *Journal) decisionPath(d Decision) string {
	name := checkpoint.WorktreeHash(d.Worktree) + "." + cmp.Or(string(d.ID), "keep") + "." + d.Nonce + ".json"
	return filepath.Join(r.Journal(), name)
}

// Record writes the decision.
func (r *Journal) Record(d *Decision) error {
	if err := disk.MkdirAll(r.Journal(), 0o700); err != nil {
		return fmt.Errorf("record decision: %w", err)
	}
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("record decision: %w", err)
	}
	d.path = r.decisionPath(*d)
	if err := disk.WriteDurable(d.path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("record decision: %w", err)
	}
	return nil
}

// IsRecorded reports whether the journal still holds this very decision. Without
// the lock the answer may be out of date at once.
func (r *Journal) IsRecorded(d Decision) bool {
	now, err := ReadDecision(d.path)
	return err == nil && now.Nonce == d.Nonce
}

// Forget removes the decision: what it asked for is done, or is not wanted.
// Another decision that has taken its file's name, as older versions of the
// program write them, stays.
func (r *Journal) Forget(d Decision) error {
	if !r.IsRecorded(d) {
		return nil
	}
	if err := disk.Step("remove", d.path); err != nil {
		return err
	}
	if err := os.Remove(d.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget decision: %w", err)
	}
	return nil
}

// Decisions returns what the journal holds, oldest first. An entry that can't
// be read is moved aside and logged.
func (r *Journal) Decisions(ctx context.Context) []Decision {
	entries, err := os.ReadDir(r.Journal())
	if err != nil {
		return nil
	}
	var found []Decision
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		path := filepath.Join(r.Journal(), e.Name())
		d, err := ReadDecision(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			r.Log.ErrorContext(ctx, "journal entry set aside", "error", err.Error())
			if disk.Step("rename", path) == nil {
				_ = os.Rename(path, path+".corrupt")
			}
		default:
			found = append(found, d)
		}
	}
	slices.SortStableFunc(found, func(a, b Decision) int { return a.Created.Compare(b.Created) })
	return found
}

func ReadDecision(path string) (Decision, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Decision{}, err
	}
	var d Decision
	if err := json.Unmarshal(data, &d); err != nil {
		return Decision{}, fmt.Errorf("decode %s: %w", path, err)
	}
	for _, id := range append(slices.Clone(d.Keep), d.ID) {
		if _, err := checkpoint.ParseID(string(id)); err != nil && id != "" {
			return Decision{}, fmt.Errorf("decode %s: %w", path, err)
		}
	}
	d.path = path
	return d, nil
}

// OfWorktree returns this worktree's decisions.
func (r *Journal) OfWorktree(ctx context.Context) []Decision {
	return slices.DeleteFunc(r.Decisions(ctx), func(d Decision) bool { return d.Worktree != r.Repo.WorktreeID })
}
