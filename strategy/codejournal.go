package strategy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/session"
)

// codeFormat is the format of codeHistory.
const codeFormat = 1

// codeTurns is how many rewinds without a snapshot can be taken back.
const codeTurns = 20

// codeHistory is the file that holds what the code-only rewinds of a worktree can
// be taken back by, oldest first, and the one that has begun.
type codeHistory struct {
	Format int        `json:"format"`
	Undo   []codeTurn `json:"undo,omitempty"`
	Redo   []codeTurn `json:"redo,omitempty"`
	Begun  *codeMove  `json:"begun,omitempty"`
	// Rewound is the time of the last rewind: an undo of a restore of snapshots
	// before it can't be taken back any more.
	Rewound time.Time `json:"rewound_at,omitzero"`
	// Done are the last rewinds, undos and redos that were carried out.
	Done []codeDone `json:"done,omitempty"`
}

// codeDone is what a code-only rewind, undo or redo wrote and removed, and when.
type codeDone struct {
	Start time.Time      `json:"started_at"`
	End   time.Time      `json:"ended_at"` // zero if it has not ended
	Wrote []session.Path `json:"wrote,omitempty"`
	Gone  []session.Path `json:"removed,omitempty"`
}

// doneBy is what a move changes.
func doneBy(changes []codeChange, start, end time.Time) codeDone {
	done := codeDone{Start: start, End: end}
	for _, c := range changes {
		if c.After.Mode == 0 {
			done.Gone = append(done.Gone, c.Path)
		} else {
			done.Wrote = append(done.Wrote, c.Path)
		}
	}
	return done
}

// end notes that the move of Begun has ended, and what it changed.
func (h *codeHistory) end(changes []codeChange, now time.Time) {
	h.Done = append(h.Done, doneBy(changes, h.Begun.Started, now))
	h.Begun = nil
}

// codeTurn is a code-only rewind: what it changed, between two commits.
type codeTurn struct {
	From    git.OID      `json:"from"`
	To      git.OID      `json:"to"`
	At      time.Time    `json:"at"`
	Changes []codeChange `json:"changes"`
	// Before and After are the sessions before and after it. After is absent if the
	// rewind has not ended.
	Before []Moment `json:"before,omitempty"`
	After  []Moment `json:"after,omitempty"`
}

// codeMove is a code-only rewind, undo or redo that has begun. Its turn has the
// direction of the move; Back is set while it is taken back after an interruption.
type codeMove struct {
	Op   bands.Operation `json:"op"`
	Turn codeTurn        `json:"turn"`
	Back bool            `json:"back,omitempty"`
	// Started is when it began to change files.
	Started time.Time `json:"started_at,omitzero"`

	PID   int    `json:"pid"`
	Start uint64 `json:"process_start,omitempty"`
}

// codeChange is what one path was and becomes.
type codeChange struct {
	Path   session.Path `json:"path"`
	Before codeFile     `json:"before"`
	After  codeFile     `json:"after"`
}

// codeFile is the mode and the blob of a file or link, zero if there is none.
type codeFile struct {
	Mode git.Mode `json:"mode,omitempty"`
	OID  git.OID  `json:"blob,omitempty"`
}

// reversed is the turn that takes t back.
func (t codeTurn) reversed() codeTurn {
	back := codeTurn{From: t.To, To: t.From, At: t.At, Before: t.After, After: t.Before, Changes: make([]codeChange, len(t.Changes))}
	for i, c := range t.Changes {
		back.Changes[i] = codeChange{Path: c.Path, Before: c.After, After: c.Before}
	}
	return back
}

// momentsAt returns what the sessions were at a rescue, nil if that isn't known.
func (h *codeHistory) momentsAt(rescue git.OID) []Moment {
	for _, t := range slices.Concat(h.Undo, h.Redo) {
		if t.From == rescue {
			return t.Before
		}
	}
	return nil
}

// changes are what the move changes in its direction.
func (m *codeMove) changes() []codeChange {
	if m.Back {
		return m.Turn.reversed().Changes
	}
	return m.Turn.Changes
}

// errCodeFormat means that another version of the program wrote the history.
var errCodeFormat = errors.New("written by another version of this program")

func codeHistoryPath(commonDir, lineage string) string {
	return filepath.Join(commonDir, "entire", "code-rewinds-"+lineage+".json")
}

func readCodeHistory(commonDir, lineage string) (h codeHistory, err error) {
	name := codeHistoryPath(commonDir, lineage)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, fmt.Errorf("read the history of rewinds: %w", err)
	}
	if err := json.Unmarshal(data, &h); err != nil || h.Format != codeFormat {
		return codeHistory{}, fmt.Errorf("%s: %w", name, errCodeFormat)
	}
	return h, nil
}

// saveCodeHistory writes the history. It is on the disk when it returns.
func (r *Recorder) saveCodeHistory(h *codeHistory) error {
	h.Format = codeFormat
	if h.Begun != nil {
		self, _ := proc.Look(os.Getpid())
		h.Begun.PID, h.Begun.Start = os.Getpid(), self.Start
		if h.Begun.Started.IsZero() {
			h.Begun.Started = r.Env.Now()
		}
	}
	h.Done = h.Done[max(0, len(h.Done)-codeTurns):]
	h.Undo, h.Redo = h.Undo[max(0, len(h.Undo)-codeTurns):], h.Redo[max(0, len(h.Redo)-codeTurns):]
	data, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("write the history of rewinds: %w", err)
	}
	return disk.WriteDurable(codeHistoryPath(r.Repo.CommonDir, r.Lineage()), append(data, '\n'), 0o600)
}

// InterruptedCode returns the commit to which a code-only rewind of the lineage's
// worktree was interrupted; other reports that another version of the program wrote
// the journal. While the rewind's process is at work there is none.
func InterruptedCode(commonDir, lineage string) (target git.OID, other bool) {
	h, err := readCodeHistory(commonDir, lineage)
	if errors.Is(err, errCodeFormat) {
		return "", true
	}
	if err != nil || h.Begun == nil {
		return "", false
	}
	if h.Begun.PID != os.Getpid() && proc.Alive(h.Begun.PID, h.Begun.Start) {
		return "", false
	}
	return h.Begun.Turn.To, false
}

// withCode runs do with the history of code-only rewinds. No other rewind and no
// snapshot of this worktree is taken meanwhile.
func (r *Recorder) withCode(ctx context.Context, do func(h *codeHistory) error) (err error) {
	if err := disk.MkdirAll(r.dir(), 0o700); err != nil {
		return fmt.Errorf("make %s: %w", r.dir(), err)
	}
	wait, cancel := context.WithTimeout(ctx, rewindWait)
	defer cancel()
	lock, err := disk.Lock(wait, codeHistoryPath(r.Repo.CommonDir, r.Lineage())+".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if store, none := r.snapshots(); none == nil {
		held, err := hold(ctx, store, rewindWait)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, held.Release()) }()
		return r.withHistory(do)
	}
	return r.withHistory(do)
}

func (r *Recorder) withHistory(do func(h *codeHistory) error) error {
	h, err := readCodeHistory(r.Repo.CommonDir, r.Lineage())
	if err != nil {
		return err
	}
	// A run that was killed has left what it staged.
	if err := os.RemoveAll(r.stagePath()); err != nil {
		return err
	}
	return errors.Join(do(&h), os.RemoveAll(r.stagePath()))
}

// forgetCode ends what a rewind to a snapshot makes void: undos of code-only
// rewinds can't be taken back any more, and if it restored the whole tree, nothing
// of an interrupted one is left.
func (r *Recorder) forgetCode(ctx context.Context, whole bool) error {
	h, err := readCodeHistory(r.Repo.CommonDir, r.Lineage())
	if err != nil || len(h.Redo) == 0 && (h.Begun == nil || !whole) {
		return nil //nolint:nilerr // a history that can't be read is named by others
	}
	return r.withCode(ctx, func(h *codeHistory) error {
		h.Redo = nil
		if whole && h.Begun != nil {
			h.end(h.Begun.changes(), r.Env.Now())
		}
		return r.saveCodeHistory(h)
	})
}

// CodeIsNext reports whether the undo, or redo, that comes next is one of a
// code-only rewind and not of a restore of a snapshot.
func (r *Recorder) CodeIsNext(op bands.Operation) (bool, error) {
	h, err := readCodeHistory(r.Repo.CommonDir, r.Lineage())
	if err != nil {
		return false, err
	}
	store, err := r.snapshots()
	if err != nil {
		return true, nil //nolint:nilerr // without snapshots there are no other rewinds
	}
	if _, found := store.Interrupted(r.Lineage()); found || h.Begun != nil {
		return !found, nil
	}
	past, err := store.History(r.Lineage())
	if err != nil {
		return false, err
	}
	turns, code := past.Undo, h.Undo
	if op == bands.OpRedo {
		turns, code = past.Redo, h.Redo
	}
	var last time.Time
	if len(turns) > 0 {
		last = turns[len(turns)-1].At
	}
	if op == bands.OpRedo && h.Rewound.After(last) && len(turns) > 0 {
		return true, nil
	}
	return len(code) > 0 && code[len(code)-1].At.After(last), nil
}
