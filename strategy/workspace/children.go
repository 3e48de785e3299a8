package workspace

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// At most one child completes a session's checkpoints, and at most one more waits for it. The
// waiting child finds all the work recorded until then, so a third would have nothing to do.
// The slots are the names of their locks.
func runsSlot(id string) string { return "run " + id }

func waitsSlot(id string) string { return "wait " + id }

// RequestCompletion starts a detached child that finishes a session's work, unless one is
// already waiting.
func (w *Workspace) RequestCompletion(ctx context.Context, id string) {
	if !w.childTaken(waitsSlot(id)) {
		w.startChild(ctx, id)
	}
}

// RequestCompletionIfIdle is RequestCompletion for a hook that has added no work: it starts no
// child while one is running.
func (w *Workspace) RequestCompletionIfIdle(ctx context.Context, id string) {
	if !w.childTaken(runsSlot(id)) && !w.childTaken(waitsSlot(id)) {
		w.startChild(ctx, id)
	}
}

// DetachRecall starts a child that finishes the saved context of a session, unless the id is
// empty, and prunes automatic ones.
func (w *Workspace) DetachRecall(ctx context.Context, id string) {
	args := []string{"hooks", "recall"}
	if id != "" {
		args = append(args, id)
	}
	if err := w.Env.Detach(args...); err != nil {
		w.Log.WarnContext(ctx, "detached child not started", "error", err.Error())
	}
}

func (w *Workspace) startChild(ctx context.Context, args ...string) {
	if err := w.Env.Detach(append([]string{"hooks", "complete"}, args...)...); err != nil {
		w.Log.WarnContext(ctx, "detached child not started", "error", err.Error())
	}
}

func (w *Workspace) childTaken(slot string) bool {
	if w.slots != nil { // opening the file again would free its locks
		return w.slots.Taken(slot)
	}
	slots, err := w.childSlots()
	if err != nil {
		return false
	}
	defer func() { _ = slots.Close() }()
	return slots.Taken(slot)
}

// RunAsChild runs do once no other child of the session runs. If another child is already
// waiting, which will do the same, it returns nil at once.
func (w *Workspace) RunAsChild(ctx context.Context, id string, do func() error) error {
	slots, err := w.childSlots()
	if err != nil {
		return do() // at worst twice
	}
	w.slots = slots
	defer func() {
		w.slots = nil
		_ = slots.Close()
	}()
	if ok, err := slots.TryLock(waitsSlot(id)); err == nil && !ok {
		return nil
	}
	if err := slots.Lock(ctx, runsSlot(id)); err != nil {
		return err
	}
	return errors.Join(slots.Unlock(waitsSlot(id)), do())
}

func (w *Workspace) childSlots() (*disk.Slots, error) {
	return disk.OpenSlots(filepath.Join(w.RecordsDir(), "children.lock"))
}
