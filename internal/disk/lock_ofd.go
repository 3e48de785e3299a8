package disk

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

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
