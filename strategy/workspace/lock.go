package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// MaxAttempts is the maximum number of attempts of [Workspace.Retry].
const MaxAttempts = 5

// ErrStale means that another hook has saved a state since it was loaded, or that a text or
// file was forgotten that the caller's data may contain.
var ErrStale = errors.New("session state changed meanwhile")

// Retry calls step until its error isn't [ErrStale], at most MaxAttempts times, and returns the last
// error. It counts the repetitions in Retried. step does its work without the lock: it takes
// [Workspace.Stamp] or [Workspace.Redactions], loads and prepares all that it saves, and returns
// ErrStale without saving if they have changed once it holds the lock.
func (w *Workspace) Retry(step func() error) error {
	for range MaxAttempts - 1 {
		if err := step(); !errors.Is(err, ErrStale) {
			return err
		}
		w.Retried++
	}
	return step()
}

// WithLock runs do while this process holds the repository's lock, and returns
// [disk.ErrLocked] if the lock isn't acquired within Options.LockTimeout. During do,
// w.Redact masks everything forgotten so far; data redacted or stored earlier may still
// contain it, see [Workspace.Redactions].
func (w *Workspace) WithLock(ctx context.Context, do func() error) error {
	if err := disk.MkdirAll(w.RecordsDir(), 0o700); err != nil {
		return fmt.Errorf("make %s: %w", w.RecordsDir(), err)
	}
	wait, cancel := context.WithTimeout(ctx, w.Options.LockTimeout)
	defer cancel()
	asked := w.Env.Now()
	lock, err := disk.AcquireLock(wait, filepath.Join(w.RecordsDir(), "lock"))
	taken := w.Env.Now()
	w.LockWait += taken.Sub(asked)
	if err != nil {
		return err
	}
	if err := w.MaskForgotten(); err != nil {
		w.Log.ErrorContext(ctx, "the list of forgotten content can't be read", "error", err.Error())
	}
	err = errors.Join(do(), lock.Unlock())
	w.LockHeld = max(w.LockHeld, w.Env.Now().Sub(taken))
	return err
}

// Redactions returns the number of changes to the masks of w.Redact. If the number has changed
// by the time the lock is held, data redacted or stored without the lock must not be written:
// it may contain text forgotten meanwhile, and must be prepared again.
func (w *Workspace) Redactions() int { return w.redactions }

// Stamp returns a text that changes whenever the state of a session is saved or something is
// forgotten ([Workspace.Redactions]).
func (w *Workspace) Stamp(id string) string {
	return w.Sessions.Stamp(id) + " " + strconv.Itoa(w.redactions)
}

// IsTimeout reports whether an operation may succeed if it is given more time.
func IsTimeout(err error) bool {
	return errors.Is(err, disk.ErrLocked) || errors.Is(err, ErrStale) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
