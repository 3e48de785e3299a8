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
func runsSlot(id string) string { return "run " + id }

func waitsSlot(id string) string { return "wait " + id }

// RequestCompletion asks for the rest of a session's work to be done by a detached child,
// unless one is waiting to do so.
func (c *Children) RequestCompletion(ctx context.Context, id string) {
	if !c.childTaken(waitsSlot(id)) {
		c.startChild(ctx, id)
	}
}

// RequestCompletionIfIdle is detach for a hook that has added nothing to that work: a child
// that runs is enough.
func (c *Children) RequestCompletionIfIdle(ctx context.Context, id string) {
	if !c.childTaken(runsSlot(id)) && !c.childTaken(waitsSlot(id)) {
		c.startChild(ctx, id)
	}
}

// DetachRecall lets a child do what a hook had no time for; of no session, if
// the id is empty.
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

// RunAsChild runs do when no other child of the session runs. If another one waits
// already, do is left to that one.
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

func (c *Children) childSlots() (*disk.SlotLocks, error) {
	return disk.OpenSlots(filepath.Join(c.RecordsDir(), "children.lock"))
}
