package workspace

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Of the children that complete a session's checkpoints, one runs at a time and
// one waits for it, which finds everything that was noted until then. More would
// do nothing. These are the names of their locks.
func runsSlot(id string) string  { return "run " + id }
func waitsSlot(id string) string { return "wait " + id }

func (r *Children) childSlots() (*disk.SlotLocks, error) {
	return disk.OpenSlots(filepath.Join(r.RecordsDir(), "children.lock"))
}

// RequestCompletion asks for the rest of a session's work to be done by a detached child,
// unless one is waiting to do so.
func (r *Children) RequestCompletion(ctx context.Context, id string) {
	if !r.childTaken(waitsSlot(id)) {
		r.startChild(ctx, id)
	}
}

// RequestCompletionIfIdle is detach for a hook that has added nothing to that work: a child
// that runs is enough.
func (r *Children) RequestCompletionIfIdle(ctx context.Context, id string) {
	if !r.childTaken(runsSlot(id)) && !r.childTaken(waitsSlot(id)) {
		r.startChild(ctx, id)
	}
}

func (r *Children) startChild(ctx context.Context, args ...string) {
	if err := r.Env.Detach(append([]string{"hooks", "complete"}, args...)...); err != nil {
		r.Log.WarnContext(ctx, "detached child not started", "error", err.Error())
	}
}

func (r *Children) childTaken(slot string) bool {
	if r.slots != nil { // opening the file again would free its locks
		return r.slots.Taken(slot)
	}
	slots, err := r.childSlots()
	if err != nil {
		return false
	}
	defer func() { _ = slots.Close() }()
	return slots.Taken(slot)
}

// RunAsChild runs do when no other child of the session runs. If another one waits
// already, do is left to that one.
func (r *Children) RunAsChild(ctx context.Context, id string, do func() error) error {
	slots, err := r.childSlots()
	if err != nil {
		return do() // at worst twice
	}
	r.slots = slots
	defer func() {
		r.slots = nil
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
