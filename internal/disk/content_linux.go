package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	seekData = unix.SEEK_DATA
	seekHole = unix.SEEK_HOLE
)

// Clone replaces the whole content of dst with that of src; they share blocks until one of them is
// written to. If that isn't possible, dst is unchanged and the error is errors.ErrUnsupported.
func Clone(dst, src *os.File) error {
	if err := Step("clone", dst.Name()); err != nil {
		return err
	}
	return clone(dst, src)
}

func clone(dst, src *os.File) error {
	return Syscall("clone", src, func(from int) error {
		return Syscall("clone", dst, func(to int) error { return cloneError(unix.IoctlFileClone(to, from)) })
	})
}

// CloneRange is like Clone for n bytes of src at srcOff, which are cloned to dstOff. The file
// system may require offsets and length to be multiples of its block size, unless the range ends at
// the end of src. n 0 means everything after srcOff.
func CloneRange(dst *os.File, dstOff int64, src *os.File, srcOff, n int64) error {
	if err := Step("clone", dst.Name()); err != nil {
		return err
	}
	return Syscall("clone", src, func(from int) error {
		part := unix.FileCloneRange{
			Src_fd: int64(from), Src_offset: uint64(srcOff), Src_length: uint64(n), Dest_offset: uint64(dstOff),
		}
		return Syscall("clone", dst, func(to int) error { return cloneError(unix.IoctlFileCloneRange(to, &part)) })
	})
}

// cloneError maps the various errors by which file systems report that they can't clone to
// errors.ErrUnsupported, and returns other errors unchanged.
func cloneError(err error) error {
	for _, cannot := range []error{unix.ENOTTY, unix.EXDEV, unix.EINVAL, unix.EPERM, unix.EBADF, errors.ErrUnsupported} {
		if errors.Is(err, cannot) {
			return errors.ErrUnsupported
		}
	}
	return err
}

func cloneFile(src *os.File, dst string) error {
	return create(src, dst, func(out *os.File, _ fs.FileInfo) error { return clone(out, src) })
}

// PunchHole makes n bytes of f at off a hole: they read as zeros and occupy no space; the length of
// f doesn't change. The error is errors.ErrUnsupported if that isn't possible.
func PunchHole(f *os.File, off, n int64) error {
	if err := Step("punch", f.Name()); err != nil {
		return err
	}
	return Syscall("punch hole", f, func(fd int) error {
		return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
	})
}

// Sync waits until all data written by any process to the file system of the directory dir is on
// the disk.
func Sync(dir string) error {
	if err := Step("sync", dir); err != nil {
		return err
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(Syscall("syncfs", f, unix.Syncfs), f.Close())
}

// WaitForWriters prepares an open file for a read between two stats of it, after the first: any write that
// overlaps the read then changes the file's times in between. It waits for a write in progress, which
// changed them at its start, and starts writing the file's dirty pages to the disk: while a page that
// a program has mapped is dirty, further writes to it don't change the times.
func WaitForWriters(f *os.File) {
	WaitForWritersFD(int(f.Fd()))
	runtime.KeepAlive(f)
}

// WaitForWritersFD is WaitForWriters for a descriptor, whose offset it may change. It ignores errors: the writer
// will get those of the disk, and the file can be read anyway.
func WaitForWritersFD(fd int) {
	_ = IgnoreEINTR(func() error {
		return unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE)
	})
	// ext4, Btrfs, F2FS and tmpfs look for data under the lock that write(2) holds; XFS reads under it.
	_ = IgnoreEINTR(func() error {
		_, err := unix.Seek(fd, 0, unix.SEEK_DATA)
		return err
	})
}

// Exchange swaps two files or directories of one file system atomically.
func Exchange(a, b string) error {
	if err := Step("exchange", a); err != nil {
		return err
	}
	if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}

// StartWriting starts writing a file's data to the disk without waiting.
func StartWriting(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) // best effort
}

// Unwritten returns the number of bytes of all programs that wait to be written to disks; it is
// negative if that isn't known.
func Unwritten() int64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return -1
	}
	total := int64(0)
	for _, name := range []string{"\nDirty:", "\nWriteback:", "\nNFS_Unstable:"} {
		_, rest, found := bytes.Cut(data, []byte(name))
		if !found {
			continue
		}
		fields := bytes.Fields(rest[:min(len(rest), 40)])
		if len(fields) == 0 {
			return -1
		}
		n, err := strconv.ParseInt(string(fields[0]), 10, 64)
		if err != nil {
			return -1
		}
		total += n << 10
	}
	return total
}
