package disk

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/flock"
)

// ErrLocked means that somebody else held the lock until the deadline.
var ErrLocked = errors.New("locked by another process")

// lockRetry is how often a taken lock is tried again.
const lockRetry = 2 * time.Millisecond

// FileLock is a held lock. The system frees it when the process ends, however
// it ends.
type FileLock struct{ lock *flock.Flock }

// Lock takes the exclusive advisory lock on the file path, which it creates,
// and waits for it until ctx ends: then the error is ErrLocked.
func Lock(ctx context.Context, path string) (*FileLock, error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	ok, err := lock.TryLock() // once at least, however short the wait: the process may have slept
	if !ok && err == nil {
		ok, err = lock.TryLockContext(ctx, lockRetry)
	}
	switch {
	case ok:
		return &FileLock{lock: lock}, nil
	case err == nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return nil, fmt.Errorf("lock %s: %w", path, ErrLocked)
	default:
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
}

// Unlock gives the lock back.
func (l *FileLock) Unlock() error { return l.lock.Unlock() }
