package disk

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

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
