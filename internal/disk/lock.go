package disk

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// ErrLocked means that another process held the lock until the deadline.
var ErrLocked = errors.New("locked by another process")

// Lock is a held lock. The system releases it when the process ends in any way.
type Lock struct{ lock *flock.Flock }

// AcquireLock takes the exclusive advisory lock on the file path, which it creates, and waits for
// it until ctx ends: then the error is ErrLocked. It blocks in the system without polling: many
// processes may wait at once, and each continues as soon as the lock is free. A process that gave
// up may still get the lock once, and releases it immediately.
func AcquireLock(ctx context.Context, path string) (*Lock, error) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	ok, err := lock.TryLock() // at least once, even if ctx has ended: the process may have slept
	if !ok && err == nil {
		ok, err = waitForLock(ctx, lock)
	}
	switch {
	case ok:
		return &Lock{lock: lock}, nil
	case err == nil:
		return nil, fmt.Errorf("lock %s: %w", path, ErrLocked)
	default:
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
}

// waitForLock blocks until it has the lock; it returns false if ctx ends before. The system call
// can't be canceled, so its goroutine outlives a caller that gives up, and releases the lock at
// once if it gets it after that.
func waitForLock(ctx context.Context, lock *flock.Flock) (bool, error) {
	var mu sync.Mutex // guards abandoned
	abandoned := false
	got := make(chan error, 1)
	go func() {
		err := lock.Lock()
		for errors.Is(err, unix.EINTR) {
			err = lock.Lock()
		}
		mu.Lock()
		defer mu.Unlock()
		if !abandoned {
			got <- err
		} else if err == nil {
			_ = lock.Unlock()
		}
	}()
	select {
	case err := <-got:
		return err == nil, err
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	select {
	case err := <-got: // just in time
		return err == nil, err
	default:
		abandoned = true
		return false, nil
	}
}

// Unlock releases the lock.
func (l *Lock) Unlock() error { return l.lock.Unlock() }
