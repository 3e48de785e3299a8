package bands

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// ErrNoHistory means that there is no restore to undo, redo or finish.
var ErrNoHistory = errors.New("no restore in the history")

// historyLength is the maximum number of restores that can be undone.
const historyLength = 100

// History lists the restores of a lineage that can be undone or redone, oldest first.
type History struct {
	Format int           `json:"format"`
	Undo   []PastRestore `json:"undo"`
	Redo   []PastRestore `json:"redo"`
}

// PastRestore is a completed restore.
type PastRestore struct {
	// Rescue is the tree before it, Target the restored version.
	Rescue Version   `json:"rescue"`
	Target Version   `json:"target"`
	At     time.Time `json:"at"`
	Note   string    `json:"note,omitempty"`
	Paths  []string  `json:"paths,omitempty"`
	Nested bool      `json:"nested,omitempty"`
	// Changed is the snapshot whose folder lists the paths that the restore changed; 0 in
	// histories of versions without lists.
	Changed Version `json:"changed,omitempty"`
	// Follow is that of restore.Options, PID and Start the process that executes it.
	Follow string `json:"follow,omitempty"`
	PID    int    `json:"pid,omitempty"`
	Start  uint64 `json:"process_start,omitempty"`
}

// ReadHistory returns the lineage's history; empty if it has none. It includes an interrupted
// restore.
func ReadHistory(s *Store, lineage string) (History, error) {
	past, _, err := ReadHistoryAndJournal(s, lineage)
	if errors.Is(err, ErrOtherJournal) {
		err = nil
	}
	return past, err
}

// ReadHistoryAndJournal returns the history as of the end of an interrupted restore, and the
// journal of that restore.
func ReadHistoryAndJournal(s *Store, lineage string) (History, *Journal, error) {
	past, err := ReadRecordedHistory(s, lineage)
	if err != nil {
		return History{}, nil, err
	}
	left, err := ReadJournal(s, lineage)
	if err != nil || left == nil {
		return past, nil, err
	}
	if left.Format != journalFormat {
		return past, left, fmt.Errorf("%w: %s (format %d)", ErrOtherJournal, journalPath(s, lineage), left.Format)
	}
	next := left.Next
	same := func(a, b PastRestore) bool { return a.Rescue == b.Rescue && a.Target == b.Target && a.At.Equal(b.At) }
	if len(past.Undo)+len(past.Redo) > 0 &&
		slices.EqualFunc(past.Undo, newest(next.Undo), same) && slices.EqualFunc(past.Redo, newest(next.Redo), same) {
		return past, nil, nil // only the removal of the journal was interrupted
	}
	return next, left, nil
}

func historyPath(s *Store, lineage string) string {
	return filepath.Join(s.Dir(), "history-"+lineage+".json")
}

// ReadRecordedHistory returns the history in the file, without an interrupted restore; empty if the
// file is missing or can't be decoded.
func ReadRecordedHistory(s *Store, lineage string) (History, error) {
	data, err := disk.ReadFile(historyPath(s, lineage))
	if errors.Is(err, fs.ErrNotExist) {
		return History{}, nil
	}
	if err != nil {
		return History{}, fmt.Errorf("read history: %w", err)
	}
	var past History
	if err := json.Unmarshal(data, &past); err != nil || past.Format != journalFormat {
		return History{}, nil //nolint:nilerr // the rescues can still be restored by their versions
	}
	return past, nil
}

func newest(turns []PastRestore) []PastRestore { return turns[max(len(turns)-historyLength, 0):] }

// ListedBy returns the history with another list of the paths that its last turn changed: that of
// the restore that completed it.
func (h History) ListedBy(op Operation, list Version) History {
	return h.withLast(op, func(t *PastRestore) { t.Changed = list })
}

// Followed returns the history with the follow-up of its last turn, and the process that executes
// it.
func (h History) Followed(op Operation, follow string, pid int, start uint64) History {
	return h.withLast(op, func(t *PastRestore) { t.Follow, t.PID, t.Start = follow, pid, start })
}

// withLast returns the history with a changed copy of the turn that the operation added.
func (h History) withLast(op Operation, change func(*PastRestore)) History {
	turns := &h.Undo
	if op == OpUndo {
		turns = &h.Redo
	}
	if n := len(*turns); n > 0 {
		*turns = slices.Clone(*turns)
		change(&(*turns)[n-1])
	}
	return h
}

// Last returns the newest turn and the operation that added it; false if there is none. Turns in
// Redo were added by undos.
func (h History) Last() (t PastRestore, op Operation, found bool) {
	if n := len(h.Undo); n > 0 {
		t, op, found = h.Undo[n-1], OpRestore, true
	}
	if n := len(h.Redo); n > 0 && !h.Redo[n-1].At.Before(t.At) {
		t, op, found = h.Redo[n-1], OpUndo, true
	}
	return t, op, found
}

// LeadingSnapshots returns the snapshots of a lineage, ascending, that led to the newest of them.
// It omits those that a restore of the whole tree took back: the snapshots after its target, and
// its rescue. A restore of some paths takes no snapshot back; partly reports whether there was one.
func LeadingSnapshots(all []Snapshot) (list []Snapshot, partly bool) {
	for i := len(all) - 1; i >= 0; {
		list = append(list, all[i])
		if i > 0 && all[i-1].Causality.RestoresPaths {
			partly = true
		}
		i = present(all[:i])
	}
	slices.Reverse(list)
	return list, partly
}

// PresentSnapshot returns the snapshot with the tree as it was after the newest of some snapshots
// of a lineage, ascending: after a rescue that of the restore's target. It returns false if there
// is none.
func PresentSnapshot(all []Snapshot) (Snapshot, bool) {
	i := present(all)
	if i < 0 {
		return Snapshot{}, false
	}
	return all[i], true
}

func present(all []Snapshot) int {
	last := len(all) - 1
	if last < 0 || all[last].Cause != Rescue || all[last].Causality.RestoresPaths {
		return last
	}
	target, found := slices.BinarySearchFunc(all, all[last].Causality.Restores, func(s Snapshot, v Version) int { return cmp.Compare(s.Version, v) })
	if !found { // it was deleted, or isn't recorded
		return last
	}
	return target
}
