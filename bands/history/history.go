// Package history has the files that record what restores did to a tree: the history
// by which they can be undone and redone, and the journal of one that has begun.
// Package restore writes them; retention keeps the snapshots that they name.
package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// ErrEmpty means that there is nothing to undo, redo or finish.
var ErrEmpty = errors.New("nothing to go back to")

// historyLength is how many restores can be taken back.
const historyLength = 100

// History is what the restores of a lineage can be taken back by, oldest first.
type History struct {
	Format int    `json:"format"`
	Undo   []Turn `json:"undo"`
	Redo   []Turn `json:"redo"`
}

// Turn is a restore that was done.
type Turn struct {
	// Rescue is the tree before it, Target what it restored.
	Rescue bands.Version `json:"rescue"`
	Target bands.Version `json:"target"`
	At     time.Time     `json:"at"`
	Note   string        `json:"note,omitempty"`
	Paths  []string      `json:"paths,omitempty"`
	Nested bool          `json:"nested,omitempty"`
	// Changed is the snapshot whose folder lists what the restore changed; 0 in
	// histories of versions that had no lists.
	Changed bands.Version `json:"changed,omitempty"`
	// Follow is that of RestoreOptions, PID and Start the process that does it.
	Follow string `json:"follow,omitempty"`
	PID    int    `json:"pid,omitempty"`
	Start  uint64 `json:"process_start,omitempty"`
}

// Read is the lineage's history; empty if it has none. A restore that was
// interrupted is in it.
func Read(s *bands.Store, lineage string) (History, error) {
	past, _, err := WithInterrupted(s, lineage)
	if errors.Is(err, ErrOtherJournal) {
		err = nil
	}
	return past, err
}

// WithInterrupted is the history as it will be when an interrupted restore, which it
// returns too, has ended.
func WithInterrupted(s *bands.Store, lineage string) (History, *Journal, error) {
	past, err := ReadRecorded(s, lineage)
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
	same := func(a, b Turn) bool { return a.Rescue == b.Rescue && a.Target == b.Target && a.At.Equal(b.At) }
	if len(past.Undo)+len(past.Redo) > 0 &&
		slices.EqualFunc(past.Undo, newest(next.Undo), same) && slices.EqualFunc(past.Redo, newest(next.Redo), same) {
		return past, nil, nil // only the journal's end was interrupted
	}
	return next, left, nil
}

func historyPath(s *bands.Store, lineage string) string {
	return filepath.Join(s.Dir(), "history-"+lineage+".json")
}

// ReadRecorded returns the history as it is in its file, without an interrupted
// restore; empty if the file is missing or can't be decoded.
func ReadRecorded(s *bands.Store, lineage string) (History, error) {
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

func newest(turns []Turn) []Turn { return turns[max(len(turns)-historyLength, 0):] }

// ListedBy returns the history with another list of what its last turn changed:
// that of the restore that completed it.
func (h History) ListedBy(op Operation, list bands.Version) History {
	return h.withLast(op, func(t *Turn) { t.Changed = list })
}

// Followed returns the history with what follows its last turn, and the process
// that does it.
func (h History) Followed(op Operation, follow string, pid int, start uint64) History {
	return h.withLast(op, func(t *Turn) { t.Follow, t.PID, t.Start = follow, pid, start })
}

// withLast returns the history with a change of the turn that the operation added.
func (h History) withLast(op Operation, change func(*Turn)) History {
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

// Last returns the newest turn, and by which operation it came; false if there is
// none. A turn that can be redone is an undo's.
func (h History) Last() (t Turn, op Operation, found bool) {
	if n := len(h.Undo); n > 0 {
		t, op, found = h.Undo[n-1], OpRestore, true
	}
	if n := len(h.Redo); n > 0 && !h.Redo[n-1].At.Before(t.At) {
		t, op, found = h.Redo[n-1], OpUndo, true
	}
	return t, op, found
}
