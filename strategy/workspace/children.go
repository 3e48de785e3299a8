package workspace

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/filelock"
)

// At most one child completes a session's checkpoints, and at most one more waits for it. The
// waiting child finds all the work recorded until then, so a third would have nothing to do.
// The slots are the names of their locks.
func runsSlot(id string) string { return "run " + id }

func waitsSlot(id string) string { return "wait " + id }

// RequestCompletion starts a detached child that finishes a session's work, unless one is
// already waiting.
func (c *Children) RequestCompletion(ctx context.Context, id string) {
	if !c.childTaken(waitsSlot(id)) {
		c.startChild(ctx, id)
	}
}

// RequestCompletionIfIdle is RequestCompletion for a hook that has added no work: it starts no
// child while one is running.
func (c *Children) RequestCompletionIfIdle(ctx context.Context, id string) {
	if !c.childTaken(runsSlot(id)) && !c.childTaken(waitsSlot(id)) {
		c.startChild(ctx, id)
	}
}

// DetachRecall starts a child that finishes the saved context of a session, unless the id is
// empty, and prunes automatic ones.
func (c *Children) DetachRecall(ctx context.Context, id string) {
	args := []string{"hooks", "recall"}
	if id != "" {
		args = append(args, id)
	}
	if err := c.Env.Detach(args...); err != nil {
		c.Log.WarnContext(ctx, "detached child not started", "error", err.Error())
	}
}

func (c *Children) startChild(ctx context.Context, args ...string) {
	if err := c.Env.Detach(append([]string{"hooks", "complete"}, args...)...); err != nil {
		c.Log.WarnContext(ctx, "detached child not started", "error", err.Error())
	}
}

func (c *Children) childTaken(slot string) bool {
	if c.slots != nil { // opening the file again would free its locks
		return c.slots.Taken(slot)
	}
	slots, err := c.childSlots()
	if err != nil {
		return false
	}
	defer func() { _ = slots.Close() }()
	return slots.Taken(slot)
}

// RunAsChild runs do once no other child of the session runs. If another child is already
// waiting, which will do the same, it returns nil at once.
func (c *Children) RunAsChild(ctx context.Context, id string, do func() error) error {
	slots, err := c.childSlots()
	if err != nil {
		return do() // at worst twice
	}
	c.slots = slots
	defer func() {
		c.slots = nil
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

func (c *Children) childSlots() (*filelock.Slots, error) {
	return filelock.OpenSlots(filepath.Join(c.RecordsDir(), "children.lock"))
}
