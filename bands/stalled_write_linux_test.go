package bands_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// TestWriteInProgress checks that a snapshot taken during a write(2) holds the file as it is after
// the write. The write is stopped in its middle, as one that the kernel throttles or preempts is: it
// has changed the file's times already.
func TestWriteInProgress(t *testing.T) {
	for name, dir := range map[string]string{"memory": t.TempDir(), "disk": testkit.DiskDir(t)} {
		t.Run(name, func(t *testing.T) {
			const size = 512 << 10
			w := newWorld(t, t, dir, treetest.Seeded(1))
			path := filepath.Join(w.tree.Root, "written")
			w.must(os.WriteFile(path, bytes.Repeat([]byte{'a'}, size), 0o644))
			source := newStalledBuffer(t, bytes.Repeat([]byte{'b'}, size))
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			w.must(err)
			defer func() { _ = f.Close() }()
			written := make(chan error, 1)
			go func() {
				_, err := f.WriteAt(source.data, 0)
				written <- err
			}()
			source.awaitReader(t)
			h, err := w.store.Hold(t.Context())
			w.must(err)
			var result capture.Taken
			taken := make(chan error, 1)
			go func() {
				var err error
				result, err = capture.Take(t.Context(), h, capture.TakeOptions{Options: w.opts, Cause: bands.Named})
				taken <- err
			}()
			for len(taken) == 0 && !waitsIn(t, unix.SYS_LSEEK, unix.SYS_PREAD64) {
				runtime.Gosched()
			}
			source.resume(t)
			w.must(errors.Join(<-written, <-taken, h.Release()))
			if len(result.Moving) > 0 {
				t.Fatalf("moving: %q", result.Moving)
			}
			var content bytes.Buffer
			w.must(restore.ReadFile(w.store, result.Snapshot, "written", &content))
			if b := bytes.Count(content.Bytes(), []byte{'b'}); b != size || content.Len() != size {
				t.Errorf("the snapshot has %d bytes, %d of them from the write of %d", content.Len(), b, size)
			}
		})
	}
}

// waitsIn reports whether a thread of this process waits in one of the system calls. If the kernel
// doesn't report that, it reports true.
func waitsIn(t *testing.T, calls ...int) bool {
	t.Helper()
	if _, err := os.ReadFile("/proc/self/syscall"); err != nil {
		return true
	}
	files, err := filepath.Glob("/proc/self/task/*/syscall")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		number, _, _ := strings.Cut(string(data), " ")
		if slices.ContainsFunc(calls, func(call int) bool { return number == strconv.Itoa(call) }) {
			return true
		}
	}
	return false
}

// stalledBuffer is memory whose second half can't be read before resume is called.
type stalledBuffer struct {
	data    []byte
	content []byte
	fd      int
}

// The requests and structures of linux/userfaultfd.h.
const (
	uffdioAPI      = 0xc018aa3f
	uffdioRegister = 0xc020aa00
	uffdioCopy     = 0xc028aa03
)

func newStalledBuffer(t *testing.T, content []byte) *stalledBuffer {
	t.Helper()
	data, err := unix.Mmap(-1, 0, len(content), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC, 0, 0)
	if errno != 0 {
		t.Skipf("userfaultfd: %v", errno)
	}
	b := &stalledBuffer{data, content, int(fd)}
	t.Cleanup(func() {
		_ = unix.Close(b.fd) // wakes a writer
		_ = unix.Munmap(data)
	})
	half := len(content) / 2
	if err := unix.Madvise(data, unix.MADV_NOHUGEPAGE); err != nil {
		t.Fatal(err)
	}
	copy(data, content[:half])
	b.ioctl(t, uffdioAPI, 0xaa, 0, 0)
	b.ioctl(t, uffdioRegister, address(data[half:]), uint64(half), 1, 0)
	return b
}

// awaitReader waits until the second half is read.
func (b *stalledBuffer) awaitReader(t *testing.T) {
	t.Helper()
	var event [32]byte
	if n, err := unix.Read(b.fd, event[:]); err != nil || n != len(event) {
		t.Fatalf("%d bytes, %v", n, err)
	}
}

func (b *stalledBuffer) resume(t *testing.T) {
	t.Helper()
	half := len(b.data) / 2
	b.ioctl(t, uffdioCopy, address(b.data[half:]), address(b.content[half:]), uint64(half), 0, 0)
	runtime.KeepAlive(b.content)
}

// ioctl passes the fields of a structure to the kernel.
func (b *stalledBuffer) ioctl(t *testing.T, request uintptr, fields ...uint64) {
	t.Helper()
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(b.fd), request, uintptr(unsafe.Pointer(&fields[0])))
	if errno != 0 {
		t.Fatalf("userfaultfd, request %#x: %v", request, errno)
	}
}

func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
