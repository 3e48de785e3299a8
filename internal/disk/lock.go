package disk

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"sync"
	"time"

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

// Locks of open file descriptions belong to one open file: unlike locks of a process, they conflict
// with other locks of the same process, and are released when that file is closed, independent of
// other open files.

// OFDLock takes a lock on n bytes of f at start (n 0: to the end, even if the file grows), shared
// or exclusive. It doesn't wait: the error is ErrLocked if another lock conflicts. f must be open
// for writing if the lock is exclusive, for reading if not.
func OFDLock(f *os.File, exclusive bool, start, n int64) error {
	lock := lockOf(exclusive, start, n)
	return Syscall("lock", f, func(fd int) error {
		err := unix.FcntlFlock(uintptr(fd), ofdSet, lock)
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return ErrLocked
		}
		return err
	})
}

// OFDUnlock releases the lock on n bytes of f at start.
func OFDUnlock(f *os.File, start, n int64) error {
	lock := lockOf(false, start, n)
	lock.Type = unix.F_UNLCK
	return Syscall("unlock", f, func(fd int) error { return unix.FcntlFlock(uintptr(fd), ofdSet, lock) })
}

// OFDTest reports whether a lock that f doesn't own conflicts with such a lock.
func OFDTest(f *os.File, exclusive bool, start, n int64) (held bool, err error) {
	lock := lockOf(exclusive, start, n)
	err = Syscall("test lock", f, func(fd int) error { return unix.FcntlFlock(uintptr(fd), ofdGet, lock) })
	return err == nil && lock.Type != unix.F_UNLCK, err
}

func lockOf(exclusive bool, start, n int64) *unix.Flock_t {
	lock := &unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart, Start: start, Len: n}
	if exclusive {
		lock.Type = unix.F_WRLCK
	}
	return lock
}

// Slots are exclusive advisory locks by name, all on one file, so that no files are left over for
// the names. They belong to the process, and are released when it closes the file or ends. Two
// names may share a lock by chance. A process that has a lock can take it again, and must not open
// the same file twice.
type Slots struct{ file *os.File }

// slotRetry is the interval of attempts to take a slot.
const slotRetry = 20 * time.Millisecond

// OpenSlots opens the file of the locks, and creates it if necessary.
func OpenSlots(path string) (*Slots, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &Slots{file: file}, nil
}

// Close releases the locks.
func (l *Slots) Close() error { return l.file.Close() }

// TryLock takes the lock if no other process has it.
func (l *Slots) TryLock(name string) (bool, error) {
	err := unix.FcntlFlock(l.file.Fd(), unix.F_SETLK, slot(name, unix.F_WRLCK))
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
		return false, nil
	}
	return false, fmt.Errorf("lock %s: %w", l.file.Name(), err)
}

// Lock takes the lock, and waits for it until ctx ends: then the error is ErrLocked.
func (l *Slots) Lock(ctx context.Context, name string) error {
	for {
		if ok, err := l.TryLock(name); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("lock %s: %w", l.file.Name(), ErrLocked)
		case <-time.After(slotRetry):
		}
	}
}

// Unlock releases the lock.
func (l *Slots) Unlock(name string) error {
	return unix.FcntlFlock(l.file.Fd(), unix.F_SETLK, slot(name, unix.F_UNLCK))
}

// Taken reports whether another process has the lock.
func (l *Slots) Taken(name string) bool {
	s := slot(name, unix.F_WRLCK)
	return unix.FcntlFlock(l.file.Fd(), unix.F_GETLK, s) == nil && s.Type != unix.F_UNLCK
}

// slot returns the byte of the file that stands for a name.
func slot(name string, kind int16) *unix.Flock_t {
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, name) // a hash accepts all writes
	const places = 1 << 62
	return &unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: int64(sum.Sum64() % places), Len: 1}
}
