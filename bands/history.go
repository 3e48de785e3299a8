package bands

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

	"github.com/seed-3aff656d/entire/internal/disk"
)

// ErrNoHistory means that there is nothing to undo, redo or finish.
var ErrNoHistory = errors.New("nothing to go back to")

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
	Rescue Version   `json:"rescue"`
	Target Version   `json:"target"`
	At     time.Time `json:"at"`
	Note   string    `json:"note,omitempty"`
	Paths  []string  `json:"paths,omitempty"`
	Nested bool      `json:"nested,omitempty"`
	// Changed is the snapshot whose folder lists what the restore changed; 0 in
	// histories of versions that had no lists.
	Changed Version `json:"changed,omitempty"`
	// Follow is that of RestoreOptions, PID and Start the process that does it.
	Follow string `json:"follow,omitempty"`
	PID    int    `json:"pid,omitempty"`
	Start  uint64 `json:"process_start,omitempty"`
}

// History is the lineage's history; empty if it has none. A restore that was
// interrupted is in it.
func (s *Store) History(lineage string) (History, error) {
	past, _, err := s.past(lineage)
	if errors.Is(err, ErrOtherJournal) {
		err = nil
	}
	return past, err
}

// past is the history as it will be when an interrupted restore, which it
// answers too, has ended.
func (s *Store) past(lineage string) (History, *Journal, error) {
	past, err := s.readHistory(lineage)
	if err != nil {
		return History{}, nil, err
	}
	left, err := s.readJournal(lineage)
	if err != nil || left == nil {
		return past, nil, err
	}
	if left.Format != journalFormat {
		return past, left, fmt.Errorf("%w: %s (format %d)", ErrOtherJournal, s.journalPath(lineage), left.Format)
	}
	if past.equal(left.Next) {
		return past, nil, nil // only the journal's end was interrupted
	}
	return left.Next, left, nil
}

// equal says whether both tell of the same restores.
func (h History) equal(o History) bool {
	same := func(a, b Turn) bool { return a.Rescue == b.Rescue && a.Target == b.Target && a.At.Equal(b.At) }
	return len(h.Undo)+len(h.Redo) > 0 &&
		slices.EqualFunc(h.Undo, newest(o.Undo), same) && slices.EqualFunc(h.Redo, newest(o.Redo), same)
}

func (s *Store) historyPath(lineage string) string {
	return filepath.Join(s.dir, "history-"+lineage+".json")
}

func (s *Store) readHistory(lineage string) (History, error) {
	data, err := os.ReadFile(s.historyPath(lineage))
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

func (h *Held) writeHistory(lineage string, next History) error {
	next.Format = journalFormat
	next.Undo, next.Redo = newest(next.Undo), newest(next.Redo)
	data, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	return disk.WriteDurable(h.historyPath(lineage), data, 0o600)
}

func newest(turns []Turn) []Turn { return turns[max(len(turns)-historyLength, 0):] }

// ErrInterrupted means that a restore was interrupted and has to be taken back
// or completed as a whole first.
var ErrInterrupted = errors.New("a restore was interrupted")

// Undo takes the last restore of the lineage back: the paths that it changed
// become what its rescue has of them, and nothing else is touched. A path that
// somebody changed since stays and is in Plan.ChangedSince; what differs from
// the rescue for other reasons stays and is in Plan.Untouched. Of o.Scope, Paths
// limits it further (the rest can be undone later), Keep and Force count; Nested
// and Delete don't: what the restore did in nested repositories is taken back,
// and only that. What was interrupted is taken back first, be it a restore, an
// undo or a redo; with Paths that is ErrInterrupted. ErrNoHistory means that
// there is nothing to take back.
func (h *Held) Undo(ctx context.Context, o RestoreOptions) (Restored, error) {
	j, err := h.undoJob(ctx, o)
	if err != nil {
		return Restored{}, err
	}
	return h.restore(ctx, j, o)
}

// Redo takes the last Undo back, by the same rules. A redo that was interrupted
// is completed.
func (h *Held) Redo(ctx context.Context, o RestoreOptions) (Restored, error) {
	j, err := h.redoJob(ctx, o)
	if err != nil {
		return Restored{}, err
	}
	return h.restore(ctx, j, o)
}

// PlanUndo returns what Undo would do to the tree that present was read from. It
// writes nothing and needs no lock.
func (s *Store) PlanUndo(ctx context.Context, present *Present, o RestoreOptions) (Plan, error) {
	j, err := s.undoJob(ctx, o)
	if err != nil {
		return Plan{}, err
	}
	return s.planJob(ctx, present, j, o)
}

// PlanRedo returns what Redo would do, as PlanUndo does.
func (s *Store) PlanRedo(ctx context.Context, present *Present, o RestoreOptions) (Plan, error) {
	j, err := s.redoJob(ctx, o)
	if err != nil {
		return Plan{}, err
	}
	return s.planJob(ctx, present, j, o)
}

func (s *Store) planJob(ctx context.Context, present *Present, j job, o RestoreOptions) (Plan, error) {
	target, err := s.Snapshot(j.target)
	if err != nil {
		return Plan{}, err
	}
	in, err := j.compile(o)
	if err != nil {
		return Plan{}, err
	}
	return s.planFor(ctx, present, target, in)
}

func (s *Store) undoJob(ctx context.Context, o RestoreOptions) (job, error) {
	past, left, err := s.past(o.Lineage)
	if err != nil {
		return job{}, err
	}
	if left != nil {
		return s.takeBack(ctx, *left, o)
	}
	if len(past.Undo) == 0 {
		return job{}, fmt.Errorf("undo: %w", ErrNoHistory)
	}
	last := past.Undo[len(past.Undo)-1]
	rest := past.Undo[:len(past.Undo)-1]
	return s.turnBack(ctx, OpUndo, last, o, func(back []Turn, whole bool) History {
		if !whole {
			rest = past.Undo
		}
		return History{Undo: rest, Redo: append(past.Redo, back...)}
	})
}

func (s *Store) redoJob(ctx context.Context, o RestoreOptions) (job, error) {
	past, left, err := s.past(o.Lineage)
	switch {
	case err != nil:
		return job{}, err
	case left != nil && left.Op == OpRedo:
		return s.finishJob(ctx, *left, o)
	case left != nil && left.Op == OpUndo:
		return s.takeBack(ctx, *left, o)
	case len(past.Redo) == 0:
		return job{}, fmt.Errorf("redo: %w", ErrNoHistory)
	}
	last := past.Redo[len(past.Redo)-1]
	rest := past.Redo[:len(past.Redo)-1]
	return s.turnBack(ctx, OpRedo, last, o, func(back []Turn, whole bool) History {
		if !whole {
			rest = past.Redo
		}
		return History{Undo: append(past.Undo, back...), Redo: rest}
	})
}

// takeBack restores what was before an operation that was interrupted. The
// history becomes what it was then.
func (s *Store) takeBack(ctx context.Context, left Journal, o RestoreOptions) (job, error) {
	if len(o.Paths) > 0 {
		return job{}, fmt.Errorf("%w: %s of %s", ErrInterrupted, left.Op, left.Target)
	}
	before, err := s.readHistory(o.Lineage)
	if err != nil {
		return job{}, err
	}
	j := job{op: OpUndo, target: left.Rescue, scope: o.Scope, note: o.Message, again: &left}
	j.scope.Delete = nil
	j.next = func(*Restored, time.Time) History { return before }
	j.undo, err = s.undoing(ctx, left.Changed, left.Rescue, left.Parts, Scope{Paths: left.Paths}, o)
	j.undo.interrupted, j.undo.begun = true, s.begunBy(left)
	return j, err
}

// turnBack restores the rescue of a restore that was done, where nobody changed
// what it made. next is the history after it: back is the turn that takes this
// back, none if nothing is changed; whole reports whether nothing of last is
// left to be taken back.
func (s *Store) turnBack(ctx context.Context, op Operation, last Turn, o RestoreOptions, next func(back []Turn, whole bool) History) (job, error) {
	target, err := s.Snapshot(last.Rescue)
	if err == nil {
		err = s.CheckPaths(target, Scope{Root: o.Options.Root, Paths: o.Paths})
	}
	if err != nil {
		return job{}, err
	}
	undo, err := s.undoing(ctx, last.Changed, last.Rescue, []Version{last.Target}, Scope{Paths: last.Paths}, o)
	if err != nil {
		return job{}, err
	}
	j := job{op: op, target: last.Rescue, scope: o.Scope, note: o.Message, undo: undo}
	j.scope.Delete = nil
	in, err := j.compile(o)
	if err != nil {
		return job{}, err
	}
	whole := undo.changed.within(in)
	j.next = func(done *Restored, at time.Time) History {
		if done.Plan.Empty() && !o.Always {
			return next(nil, whole)
		}
		return next([]Turn{{
			Rescue: done.Rescue.Version, Target: last.Rescue, At: at, Note: last.Note,
			Paths: o.Paths, Nested: last.Nested, Changed: done.Rescue.Version,
		}}, whole)
	}
	return j, nil
}

func (s *Store) undoing(ctx context.Context, list, rescue Version, restored []Version, in Scope, o RestoreOptions) (*undoing, error) {
	in.Root = o.Options.Root
	compiled, err := in.compile(o.Hidden)
	if err != nil {
		return &undoing{}, err
	}
	set, err := s.changedOf(ctx, list, rescue, restored, compiled)
	return &undoing{changed: set}, err
}

// Finish completes what Interrupted reports. Only what was there before, or
// was made by what was interrupted, is removed.
func (h *Held) Finish(ctx context.Context, o RestoreOptions) (Restored, error) {
	_, left, err := h.past(o.Lineage)
	if err != nil {
		return Restored{}, err
	}
	if left == nil {
		return Restored{}, fmt.Errorf("finish: %w", ErrNoHistory)
	}
	j, err := h.finishJob(ctx, *left, o)
	if err != nil {
		return Restored{}, err
	}
	return h.restore(ctx, j, o)
}

// finishJob completes an operation that was interrupted: on the paths that it
// was going to change, where they are still what they were before, or what it
// has made of them.
func (s *Store) finishJob(ctx context.Context, left Journal, o RestoreOptions) (job, error) {
	if len(o.Paths) > 0 {
		return job{}, fmt.Errorf("%w: %s of %s", ErrInterrupted, left.Op, left.Target)
	}
	j := job{op: left.Op, target: left.Target, scope: o.Scope, note: o.Message, again: &left}
	j.scope.Delete = nil
	j.next = func(done *Restored, _ time.Time) History { return left.Next.listedBy(left.Op, done.Rescue.Version) }
	undo, err := s.undoing(ctx, left.Changed, left.Rescue, left.Parts, Scope{Paths: left.Paths}, o)
	if err != nil {
		return j, err
	}
	before, err := s.Snapshot(left.Rescue)
	if err != nil {
		return j, err
	}
	undo.interrupted, undo.begun = true, s.begunBy(left)
	undo.changed, err = s.orAsBefore(undo.changed, before)
	j.undo = undo
	return j, err
}

// listedBy returns the history with another list of what its last turn changed:
// that of the restore that completed it.
func (h History) listedBy(op Operation, list Version) History {
	return h.withLast(op, func(t *Turn) { t.Changed = list })
}

// followed returns the history with what follows its last turn, and the process
// that does it.
func (h History) followed(op Operation, follow string, pid int, start uint64) History {
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
