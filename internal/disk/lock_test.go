package disk_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

func TestLockIsExclusive(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	first, err := disk.AcquireLock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := disk.AcquireLock(soon, path); !errors.Is(err, disk.ErrLocked) {
		t.Fatalf("a second holder: %v", err)
	}
	if err := first.Unlock(); err != nil {
		t.Fatal(err)
	}
	second, err := disk.AcquireLock(t.Context(), path)
	if err != nil {
		t.Fatalf("after the first has released it: %v", err)
	}
	if err := second.Unlock(); err != nil {
		t.Error(err)
	}
}

func TestFreeLockIsTakenAfterTheDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	lock, err := disk.AcquireLock(ctx, filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
}

func TestLockOfDeadProcessIsFree(t *testing.T) {
	t.Parallel()
	flock, err := exec.LookPath("flock")
	if err != nil {
		t.Skip("needs flock(1) to hold the lock from another process")
	}
	path := filepath.Join(t.TempDir(), "lock")
	holder := exec.Command(flock, path, "sh", "-c", "echo held; exec sleep 60")
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, len("held\n"))); err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := disk.AcquireLock(soon, path); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("beside another process: %v", err)
	}
	// flock(1) passes the lock on to its child, so both processes must be killed.
	_ = exec.Command("pkill", "-KILL", "-P", strconv.Itoa(holder.Process.Pid)).Run()
	_ = holder.Process.Kill()
	_ = holder.Wait()
	lock, err := disk.AcquireLock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
}
