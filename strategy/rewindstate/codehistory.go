package rewindstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands/history"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// CodeFormat is the format of [CodeHistory].
const CodeFormat = 1

// CodeTurns is how many code-only rewinds can be undone.
const CodeTurns = 20

// ErrCodeFormat means that another version of the program wrote the history.
var ErrCodeFormat = errors.New("written by another version of this program")

// CodeHistory is the file by which code-only rewinds of a worktree are undone and
// redone, oldest first, with the one in progress.
type CodeHistory struct {
	Format int            `json:"format"`
	Undo   []CodeTurn     `json:"undo,omitempty"`
	Redo   []CodeTurn     `json:"redo,omitempty"`
	Begun  *CodeOperation `json:"begun,omitempty"`
	// Rewound is the time of the last rewind: an undo of a restore of snapshots
	// before it can't be undone any more.
	Rewound time.Time `json:"rewound_at,omitzero"`
	// Done are the last rewinds, undos and redos that were carried out.
	Done []CodeChanged `json:"done,omitempty"`
}

// CodeHistoryPath is the file of a worktree's history.
func CodeHistoryPath(commonDir, lineage string) string {
	return filepath.Join(commonDir, "entire", "code-rewinds-"+lineage+".json")
}

// ReadCodeHistory returns a worktree's history, empty if there is none. It returns
// [ErrCodeFormat] for one that it can't decode.
func ReadCodeHistory(commonDir, lineage string) (h CodeHistory, err error) {
	name := CodeHistoryPath(commonDir, lineage)
	data, err := disk.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, fmt.Errorf("read the history of rewinds: %w", err)
	}
	if err := json.Unmarshal(data, &h); err != nil || h.Format != CodeFormat {
		return CodeHistory{}, fmt.Errorf("%s: %w", name, ErrCodeFormat)
	}
	return h, nil
}

// End records that the operation in Begun has ended, and what it changed.
func (h *CodeHistory) End(changes []CodeChange, now time.Time) {
	h.Done = append(h.Done, ChangedBy(changes, h.Begun.Started, now))
	h.Begun = nil
}

// SessionsAt returns what the sessions were at a rescue commit, nil if that isn't
// recorded.
func (h *CodeHistory) SessionsAt(rescue git.OID) []Session {
	for _, t := range slices.Concat(h.Undo, h.Redo) {
		if t.From == rescue {
			return t.Before
		}
	}
	return nil
}

// CodeChanged is what a code-only rewind, undo or redo wrote and removed, and when.
type CodeChanged struct {
	Start time.Time      `json:"started_at"`
	End   time.Time      `json:"ended_at"` // zero if it has not ended
	Wrote []session.Path `json:"wrote,omitempty"`
	Gone  []session.Path `json:"removed,omitempty"`
}

// ChangedBy returns what an operation with these changes wrote and removed.
func ChangedBy(changes []CodeChange, start, end time.Time) CodeChanged {
	done := CodeChanged{Start: start, End: end}
	for _, c := range changes {
		if c.After.Mode == 0 {
			done.Gone = append(done.Gone, c.Path)
		} else {
			done.Wrote = append(done.Wrote, c.Path)
		}
	}
	return done
}

// CodeTurn is a code-only rewind: what it changed, between two commits.
type CodeTurn struct {
	From    git.OID      `json:"from"`
	To      git.OID      `json:"to"`
	At      time.Time    `json:"at"`
	Changes []CodeChange `json:"changes"`
	// Before and After are the sessions before and after it. After is absent if the
	// rewind has not ended.
	Before []Session `json:"before,omitempty"`
	After  []Session `json:"after,omitempty"`
}

// Reversed returns the turn that undoes t.
func (t CodeTurn) Reversed() CodeTurn {
	back := CodeTurn{From: t.To, To: t.From, At: t.At, Before: t.After, After: t.Before, Changes: make([]CodeChange, len(t.Changes))}
	for i, c := range t.Changes {
		back.Changes[i] = CodeChange{Path: c.Path, Before: c.After, After: c.Before}
	}
	return back
}

// CodeOperation is a code-only rewind, undo or redo that has begun. Its turn has the
// direction of the operation; Back is set while it is undone after an interruption.
type CodeOperation struct {
	Op   history.Operation `json:"op"`
	Turn CodeTurn          `json:"turn"`
	Back bool              `json:"back,omitempty"`
	// Started is when it began to change files.
	Started time.Time `json:"started_at,omitzero"`

	PID   int    `json:"pid"`
	Start uint64 `json:"process_start,omitempty"`
}

// Changes returns the changes of the operation in its direction.
func (c *CodeOperation) Changes() []CodeChange {
	if c.Back {
		return c.Turn.Reversed().Changes
	}
	return c.Turn.Changes
}

// CodeChange is what a path is before and after an operation.
type CodeChange struct {
	Path   session.Path `json:"path"`
	Before CodeFile     `json:"before"`
	After  CodeFile     `json:"after"`
}

// CodeFile is the mode and the blob of a file or link, zero if there is none.
type CodeFile struct {
	Mode git.Mode `json:"mode,omitempty"`
	OID  git.OID  `json:"blob,omitempty"`
}
