package tracking

import (
	"encoding/json"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// PartialLineage returns the lineage of the partial snapshots of a worktree: the targets of
// rewinds to points without a snapshot, and their rescues.
func PartialLineage(worktreeID string) string {
	return checkpoint.WorktreeHash(worktreeID + "\x00partial")
}

// TargetName returns the argument of `rewind --to` for a version: for a partial snapshot, the
// commit with its files.
func TargetName(store *bands.Store, v bands.Version) string {
	if s, err := store.Snapshot(v); err == nil && len(s.Only) > 0 {
		return git.OID(s.Causality.Shadow).Short()
	}
	return v.String()
}

// FormerRewind is the last rewind without a snapshot in the file that versions of the program
// without partial snapshots wrote.
type FormerRewind struct {
	From git.OID `json:"from"`
	To   git.OID `json:"to"`
	// Interrupted reports whether it was interrupted.
	Interrupted bool `json:"-"`
}

// Hint names the commands that undo and complete it.
func (f FormerRewind) Hint() string {
	hint := "`entire rewind --to " + f.From.Short() + "` restores what was there before"
	if f.Interrupted {
		hint += ", `entire rewind --to " + f.To.Short() + "` completes it"
	}
	return hint
}

// FormerPath returns the path of that file for a worktree.
func FormerPath(commonDir, lineage string) string {
	return filepath.Join(commonDir, "entire", "code-rewinds-"+lineage+".json")
}

// ReadFormerRewind returns the last rewind in that file; false if there is none.
func ReadFormerRewind(commonDir, lineage string) (last FormerRewind, found bool) {
	var h struct {
		Undo  []FormerRewind `json:"undo"`
		Begun *struct {
			Turn FormerRewind `json:"turn"`
		} `json:"begun"`
	}
	data, err := disk.ReadFile(FormerPath(commonDir, lineage))
	if err != nil || json.Unmarshal(data, &h) != nil {
		return last, false
	}
	if h.Begun != nil {
		last = h.Begun.Turn
		last.Interrupted = true
	} else if n := len(h.Undo); n > 0 {
		last = h.Undo[n-1]
	}
	return last, last.From != ""
}
