package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/filelock"
)

// MaxAttempts is how often a step is tried if other hooks of the session save it in
// between.
const MaxAttempts = 5

// ErrStale means that another hook has saved a state since it was loaded, or that
// something was forgotten which the caller's work may hold.
var ErrStale = errors.New("session state changed meanwhile")

// WithLock runs do while this process holds the repository's lock, and returns
// [filelock.ErrLocked] if it can't be had within Options.LockTimeout. w.Redact masks what
// is forgotten by then; what was redacted or stored before may hold it, see
// [Workspace.Redactions].
func (w *Workspace) WithLock(ctx context.Context, do func() error) error {
	if err := disk.MkdirAll(w.RecordsDir(), 0o700); err != nil {
		return fmt.Errorf("make %s: %w", w.RecordsDir(), err)
	}
	wait, cancel := context.WithTimeout(ctx, w.Options.LockTimeout)
	defer cancel()
	asked := w.Env.Now()
	lock, err := filelock.Acquire(wait, filepath.Join(w.RecordsDir(), "lock"))
	taken := w.Env.Now()
	w.LockWait += taken.Sub(asked)
	if err != nil {
		return err
	}
	if err := w.MaskForgotten(); err != nil {
		w.Log.ErrorContext(ctx, "what was forgotten is not known", "error", err.Error())
	}
	err = errors.Join(do(), lock.Unlock())
	w.LockHeld = max(w.LockHeld, w.Env.Now().Sub(taken))
	return err
}

// Redactions returns how often what w.Redact masks has changed. What was redacted or
// stored without the lock is not to be written if the number is another one under the
// lock: something was forgotten meanwhile, and the work is prepared anew.
func (w *Workspace) Redactions() int { return w.redactions }

// Stamp returns what is another text whenever the state of a session was saved, or
// something was forgotten ([Workspace.Redactions]), in between.
func (w *Workspace) Stamp(id string) string {
	return w.Sessions.Stamp(id) + " " + strconv.Itoa(w.redactions)
}

// IsTimeout reports whether an operation may succeed if it is given more time.
func IsTimeout(err error) bool {
	return errors.Is(err, filelock.ErrLocked) || errors.Is(err, ErrStale) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
