package disk

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const (
	seekData = unix.SEEK_DATA
	seekHole = unix.SEEK_HOLE
)

// Clone always fails with errors.ErrUnsupported: the system only clones to new files. See
// CloneFile.
func Clone(dst, _ *os.File) error {
	return &fs.PathError{Op: "clone", Path: dst.Name(), Err: errors.ErrUnsupported}
}

// CloneRange always fails with errors.ErrUnsupported.
func CloneRange(dst *os.File, _ int64, _ *os.File, _, _ int64) error {
	return &fs.PathError{Op: "clone", Path: dst.Name(), Err: errors.ErrUnsupported}
}

func cloneFile(src *os.File, dst string) error {
	err := unix.Fclonefileat(int(src.Fd()), unix.AT_FDCWD, dst, unix.CLONE_NOFOLLOW)
	if errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EINVAL) {
		return errors.ErrUnsupported
	}
	return err
}

// PunchHole always fails with errors.ErrUnsupported.
func PunchHole(f *os.File, _, _ int64) error {
	return &fs.PathError{Op: "punch hole", Path: f.Name(), Err: errors.ErrUnsupported}
}

// Sync asks the system to write everything to the disks. The system has no call that syncs a single
// file system, and none that waits for the disk's own cache.
func Sync(dir string) error {
	if err := Step("sync", dir); err != nil {
		return err
	}
	if err := unix.Sync(); err != nil {
		return &fs.PathError{Op: "sync", Path: dir, Err: err}
	}
	return nil
}

// WaitForWriters does nothing: the system has no call for it.
func WaitForWriters(*os.File) {}

func WaitForWritersFD(int) {}

// Exchange swaps two files or directories of one file system atomically.
func Exchange(a, b string) error {
	if err := Step("exchange", a); err != nil {
		return err
	}
	if err := unix.RenamexNp(a, b, unix.RENAME_SWAP); err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}

// StartWriting does nothing: the system has no call for it.
func StartWriting(*os.File) {}

// Unwritten returns the number of bytes of all programs that wait to be written to disks; it is
// negative if that isn't known.
func Unwritten() int64 { return -1 }
