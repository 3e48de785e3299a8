package tracking

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
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// StaleAfter is the age above which a decision whose commit was never made is dropped.
const StaleAfter = 24 * time.Hour

// RecordDecision writes the decision.
func RecordDecision(w *workspace.Workspace, d *Decision) error {
	if err := disk.MkdirAll(workspace.JournalDir(w.Repo), 0o700); err != nil {
		return fmt.Errorf("record decision: %w", err)
	}
	// The nonce in the name keeps two decisions about the same id apart, so that writing one
	// needs no lock: no other hook writes or replaces the file.
	d.path = filepath.Join(workspace.JournalDir(w.Repo), checkpoint.WorktreeHash(d.Worktree)+"."+cmp.Or(string(d.ID), "keep")+"."+d.Nonce+".json")
	if err := disk.WriteJSON(d.path, d); err != nil {
		return fmt.Errorf("record decision: %w", err)
	}
	return nil
}

// IsDecisionRecorded reports whether the journal still holds this decision. Without the lock the
// result may be outdated at once.
func IsDecisionRecorded(d Decision) bool {
	now, err := ReadDecision(d.path)
	return err == nil && now.Nonce == d.Nonce
}

// RemoveDecision removes a decision that was carried out or dropped. Another decision under the same
// file name, as older versions of the program write them, stays.
func RemoveDecision(d Decision) error {
	if !IsDecisionRecorded(d) {
		return nil
	}
	if err := disk.Remove(d.path); err != nil {
		return fmt.Errorf("forget decision: %w", err)
	}
	return nil
}

// Decisions returns the decisions in the journal, oldest first. An entry that can't be read is
// moved aside and logged.
func Decisions(ctx context.Context, w *workspace.Workspace) []Decision {
	entries, err := os.ReadDir(workspace.JournalDir(w.Repo))
	if err != nil {
		return nil
	}
	var found []Decision
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		path := filepath.Join(workspace.JournalDir(w.Repo), e.Name())
		d, err := ReadDecision(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			w.Log.ErrorContext(ctx, "journal entry set aside", "error", err.Error())
			_ = disk.Rename(path, path+".corrupt")
		default:
			found = append(found, d)
		}
	}
	slices.SortStableFunc(found, func(a, b Decision) int { return a.Created.Compare(b.Created) })
	return found
}

// WorktreeDecisions returns this worktree's decisions.
func WorktreeDecisions(ctx context.Context, w *workspace.Workspace) []Decision {
	return slices.DeleteFunc(Decisions(ctx, w), func(d Decision) bool { return d.Worktree != w.Repo.WorktreeID })
}

// ReadDecision reads a decision from a file of the journal.
func ReadDecision(path string) (Decision, error) {
	data, err := disk.ReadFile(path)
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
	// Unseen reports that the commit must not be added to the register of seen commits.
	Unseen bool `json:"unseen,omitempty"`
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

// Link records that a commit carries a checkpoint, so that a commit that is undone and made
// again keeps its id. The latest links are in one small file. If that is lost, such a commit
// gets a new id or none.
type Link struct {
	ID       checkpoint.ID      `json:"id"`
	Commit   git.OID            `json:"commit"`
	Worktree string             `json:"worktree,omitempty"`
	Blobs    map[string]git.OID `json:"blobs,omitempty"` // the session's files in the commit
}

const (
	maxLinks = 64  // links kept
	maxBlobs = 100 // files kept of each
)

func linksPath(w *workspace.Workspace) string { return filepath.Join(w.RecordsDir(), "links.json") }

// Links returns the links, oldest first; none if they can't be read.
func Links(w *workspace.Workspace) []Link {
	data, err := disk.ReadFile(linksPath(w))
	if err != nil {
		return nil
	}
	var links []Link
	if json.Unmarshal(data, &links) != nil {
		return nil
	}
	return links
}

// RememberLink adds the link of a commit, replacing an older one with its id.
func RememberLink(w *workspace.Workspace, l Link) error {
	if len(l.Blobs) > maxBlobs {
		l.Blobs = nil
	}
	links := slices.DeleteFunc(Links(w), func(o Link) bool { return o.ID == l.ID })
	return saveLinks(w, append(links, l))
}

// MoveLinks updates the links of commits that were rewritten, by their old ids.
func MoveLinks(w *workspace.Workspace, moved map[git.OID]git.OID) error {
	links, changed := Links(w), false
	for i, l := range links {
		if to, ok := moved[l.Commit]; ok {
			links[i].Commit, changed = to, true
		}
	}
	if !changed {
		return nil
	}
	return saveLinks(w, links)
}

// Relink updates the links of the ids that a commit took over from the commit it
// replaced.
func Relink(ctx context.Context, w *workspace.Workspace, d Decision, commit git.OID) {
	links := Links(w)
	changed := false
	for i, l := range links {
		if l.Commit != commit && slices.Contains(d.Replaced, l.ID) {
			links[i].Commit, changed = commit, true
		}
	}
	if !changed {
		return
	}
	if err := saveLinks(w, links); err != nil {
		w.Log.WarnContext(ctx, "links not saved", "error", err.Error())
	}
}

func saveLinks(w *workspace.Workspace, links []Link) error {
	if len(links) > maxLinks {
		links = links[len(links)-maxLinks:]
	}
	data, err := json.Marshal(links)
	if err != nil {
		return err
	}
	return disk.WriteCache(linksPath(w), data, 0o600)
}
