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

	"github.com/seed-3aff656d/entire/bands/tree"
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
}

// History is the lineage's history; empty if it has none. A restore that was
// interrupted is in it.
func (s *Store) History(lineage string) (History, error) {
	past, _, err := s.past(lineage)
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

// Undo takes the last restore of the lineage back: what it changed becomes what
// its rescue has. What it made goes, whatever o.Delete says; that is asked about
// what appeared since. The scope's paths are those of the restore. What was
// interrupted is taken back first, be it a restore, an undo or a redo.
// ErrNoHistory if there is nothing to take back.
func (h *Held) Undo(ctx context.Context, o RestoreOptions) (Restored, error) {
	past, left, err := h.past(o.Lineage)
	if err != nil {
		return Restored{}, err
	}
	if left != nil {
		return h.takeBack(ctx, *left, o)
	}
	if len(past.Undo) == 0 {
		return Restored{}, fmt.Errorf("undo: %w", ErrNoHistory)
	}
	last := past.Undo[len(past.Undo)-1]
	rest := past.Undo[:len(past.Undo)-1]
	return h.turn(ctx, OpUndo, last, o, func(back Turn) History {
		return History{Undo: rest, Redo: append(past.Redo, back)}
	})
}

// Redo takes the last Undo back. A redo that was interrupted is completed.
func (h *Held) Redo(ctx context.Context, o RestoreOptions) (Restored, error) {
	past, left, err := h.past(o.Lineage)
	switch {
	case err != nil:
		return Restored{}, err
	case left != nil && left.Op == OpRedo:
		return h.Finish(ctx, o)
	case left != nil && left.Op == OpUndo:
		return h.takeBack(ctx, *left, o)
	case len(past.Redo) == 0:
		return Restored{}, fmt.Errorf("redo: %w", ErrNoHistory)
	}
	last := past.Redo[len(past.Redo)-1]
	rest := past.Redo[:len(past.Redo)-1]
	return h.turn(ctx, OpRedo, last, o, func(back Turn) History {
		return History{Undo: append(past.Undo, back), Redo: rest}
	})
}

// takeBack restores what was before an operation that was interrupted. The
// history becomes what it was then.
func (h *Held) takeBack(ctx context.Context, left Journal, o RestoreOptions) (Restored, error) {
	before, err := h.readHistory(o.Lineage)
	if err != nil {
		return Restored{}, err
	}
	made, closeMade := h.holder(left.Parts...)
	defer closeMade()
	in := o.Scope
	in.Paths, in.Nested = left.Paths, left.Nested
	if o.Delete != nil {
		in.Delete = func(path string, e tree.Entry) bool { return made(path) || o.Delete(path, e) }
	}
	next := func(Version, time.Time) History { return before }
	return h.restore(ctx, job{op: OpUndo, target: left.Rescue, scope: in, note: o.Message, again: &left, next: next}, o)
}

// turn restores the rescue of a restore that was done, in its scope.
func (h *Held) turn(ctx context.Context, op Operation, last Turn, o RestoreOptions, next func(back Turn) History) (Restored, error) {
	made, closeMade := h.holder(last.Target)
	defer closeMade()
	in := o.Scope
	in.Paths, in.Nested = last.Paths, last.Nested
	if o.Delete != nil {
		in.Delete = func(path string, e tree.Entry) bool { return made(path) || o.Delete(path, e) }
	}
	done := func(rescue Version, at time.Time) History {
		return next(Turn{Rescue: rescue, Target: last.Rescue, At: at, Note: last.Note, Paths: last.Paths, Nested: last.Nested})
	}
	return h.restore(ctx, job{op: op, target: last.Rescue, scope: in, note: o.Message, next: done}, o)
}

// holder answers whether one of the versions has a path. A version that is gone
// has none.
func (h *Held) holder(versions ...Version) (has func(path string) bool, done func()) {
	var finds []func(path string) bool
	var closes []func() error
	for _, v := range versions {
		snapshot, err := h.Snapshot(v)
		root, ok := snapshot.Tree.Ref()
		if err != nil || !ok {
			continue
		}
		records, reader := h.Loader(snapshot)
		closes = append(closes, reader.Close)
		finds = append(finds, func(path string) bool {
			_, err := tree.Lookup(records, root, path)
			return err == nil
		})
	}
	has = func(path string) bool {
		return slices.ContainsFunc(finds, func(find func(string) bool) bool { return find(path) })
	}
	return has, func() {
		for _, end := range closes {
			_ = end()
		}
	}
}

// Finish completes what Interrupted tells of. Only what was there before, or
// was made by what was interrupted, is removed.
func (h *Held) Finish(ctx context.Context, o RestoreOptions) (Restored, error) {
	_, left, err := h.past(o.Lineage)
	if err != nil {
		return Restored{}, err
	}
	if left == nil {
		return Restored{}, fmt.Errorf("finish: %w", ErrNoHistory)
	}
	known, closeKnown := h.holder(append([]Version{left.Rescue}, left.Parts...)...)
	defer closeKnown()
	kept := map[string]bool{}
	for _, path := range left.Kept {
		kept[path] = true
	}
	in := o.Scope
	in.Paths, in.Nested = left.Paths, left.Nested
	in.Delete = func(path string, _ tree.Entry) bool { return known(path) }
	in.Keep = func(path string) bool { return kept[path] }
	next := func(Version, time.Time) History { return left.Next }
	return h.restore(ctx, job{op: left.Op, target: left.Target, scope: in, note: o.Message, again: left, next: next}, o)
}
