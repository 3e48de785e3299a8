package disk

import (
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// IgnoreEINTR repeats call while it returns EINTR.
func IgnoreEINTR(call func() error) error {
	for {
		if err := call(); err != unix.EINTR { //nolint:errorlint // system calls return it bare
			return err
		}
	}
}

// Syscall makes one system call on the descriptor of f and keeps f open meanwhile. An error is a
// *fs.PathError with the operation op.
func Syscall(op string, f *os.File, call func(fd int) error) error {
	err := IgnoreEINTR(func() error { return call(int(f.Fd())) })
	runtime.KeepAlive(f)
	if err != nil {
		return &fs.PathError{Op: op, Path: f.Name(), Err: err}
	}
	return nil
}
