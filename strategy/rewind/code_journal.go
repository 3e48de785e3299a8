package rewind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed-3aff656d/entire/bands/history"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/filelock"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
)

// saveCodeHistory writes the history. It is on the disk when it returns.
func (cj *CodeJournal) saveCodeHistory(h *rewindstate.CodeHistory) error {
	h.Format = rewindstate.CodeFormat
	if h.Begun != nil {
		self, _ := proc.Look(os.Getpid())
		h.Begun.PID, h.Begun.Start = os.Getpid(), self.Start
		if h.Begun.Started.IsZero() {
			h.Begun.Started = cj.Env.Now()
		}
	}
	h.Done = h.Done[max(0, len(h.Done)-rewindstate.CodeTurns):]
	h.Undo, h.Redo = h.Undo[max(0, len(h.Undo)-rewindstate.CodeTurns):], h.Redo[max(0, len(h.Redo)-rewindstate.CodeTurns):]
	data, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("write the history of rewinds: %w", err)
	}
	return disk.WriteDurable(rewindstate.CodeHistoryPath(cj.Repo.CommonDir, cj.snapshots.Lineage()), append(data, '\n'), 0o600)
}

// InterruptedCode returns the commit to which a code-only rewind of the lineage's
// worktree was interrupted; other reports that another version of the program wrote
// the journal. While the rewind's process is at work there is none.
func InterruptedCode(commonDir, lineage string) (target git.OID, other bool) {
	h, err := rewindstate.ReadCodeHistory(commonDir, lineage)
	if errors.Is(err, rewindstate.ErrCodeFormat) {
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
func (cj *CodeJournal) withCode(ctx context.Context, do func(h *rewindstate.CodeHistory) error) (err error) {
	if err := disk.MkdirAll(cj.RecordsDir(), 0o700); err != nil {
		return fmt.Errorf("make %s: %w", cj.RecordsDir(), err)
	}
	wait, cancel := context.WithTimeout(ctx, snapshots.RewindWait)
	defer cancel()
	lock, err := filelock.Acquire(wait, rewindstate.CodeHistoryPath(cj.Repo.CommonDir, cj.snapshots.Lineage())+".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if store, none := cj.snapshots.Store(); none == nil {
		held, err := snapshots.Hold(ctx, store, snapshots.RewindWait)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, held.Release()) }()
		return cj.withHistory(do)
	}
	return cj.withHistory(do)
}

func (cj *CodeJournal) withHistory(do func(h *rewindstate.CodeHistory) error) error {
	h, err := rewindstate.ReadCodeHistory(cj.Repo.CommonDir, cj.snapshots.Lineage())
	if err != nil {
		return err
	}
	// A run that was killed has left what it staged.
	if err := os.RemoveAll(cj.code.stagePath()); err != nil {
		return err
	}
	return errors.Join(do(&h), os.RemoveAll(cj.code.stagePath()))
}

// forgetCode ends what a rewind to a snapshot makes void: undos of code-only
// rewinds can't be taken back any more, and if it restored the whole tree, nothing
// of an interrupted one is left.
func (cj *CodeJournal) forgetCode(ctx context.Context, whole bool) error {
	h, err := rewindstate.ReadCodeHistory(cj.Repo.CommonDir, cj.snapshots.Lineage())
	if err != nil || len(h.Redo) == 0 && (h.Begun == nil || !whole) {
		return nil //nolint:nilerr // a history that can't be read is named by others
	}
	return cj.withCode(ctx, func(h *rewindstate.CodeHistory) error {
		h.Redo = nil
		if whole && h.Begun != nil {
			h.End(h.Begun.Changes(), cj.Env.Now())
		}
		return cj.saveCodeHistory(h)
	})
}

// CodeIsNext reports whether the undo, or redo, that comes next is one of a
// code-only rewind and not of a restore of a snapshot.
func (cj *CodeJournal) CodeIsNext(op history.Operation) (bool, error) {
	h, err := rewindstate.ReadCodeHistory(cj.Repo.CommonDir, cj.snapshots.Lineage())
	if err != nil {
		return false, err
	}
	store, err := cj.snapshots.Store()
	if err != nil {
		return true, nil //nolint:nilerr // without snapshots there are no other rewinds
	}
	if _, found := history.Interrupted(store, cj.snapshots.Lineage()); found || h.Begun != nil {
		return !found, nil
	}
	past, err := history.Read(store, cj.snapshots.Lineage())
	if err != nil {
		return false, err
	}
	turns, code := past.Undo, h.Undo
	if op == history.OpRedo {
		turns, code = past.Redo, h.Redo
	}
	var last time.Time
	if len(turns) > 0 {
		last = turns[len(turns)-1].At
	}
	if op == history.OpRedo && h.Rewound.After(last) && len(turns) > 0 {
		return true, nil
	}
	return len(code) > 0 && code[len(code)-1].At.After(last), nil
}
