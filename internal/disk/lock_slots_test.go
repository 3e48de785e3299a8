package disk_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// TestSlotHolder is the other process of TestSlotLocks.
func TestSlotHolder(t *testing.T) {
	path := os.Getenv("SLOT_FILE")
	if path == "" {
		t.Skip("run by TestSlotLocks")
	}
	locks, err := disk.OpenSlots(path)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := locks.TryLock("a"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if _, err := os.Stdout.WriteString("held\n"); err != nil {
		t.Fatal(err)
	}
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the test closes it
}

func TestSlotLocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "slots")
	holder := exec.Command(os.Args[0], "-test.run=^TestSlotHolder$")
	holder.Env = append(os.Environ(), "SLOT_FILE="+path)
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	locks, err := disk.OpenSlots(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = locks.Close() }()
	if ok, err := locks.TryLock("a"); ok || err != nil || !locks.Taken("a") {
		t.Errorf("a taken lock: %v, %v", ok, err)
	}
	if ok, err := locks.TryLock("b"); !ok || err != nil {
		t.Errorf("a free lock: %v, %v", ok, err)
	}
	if locks.Taken("b") {
		t.Error("taken by another process though we have it")
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := locks.Lock(soon, "a"); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("waited in vain: %v", err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	if err := locks.Lock(t.Context(), "a"); err != nil {
		t.Errorf("after its holder's end: %v", err)
	}
	if err := locks.Unlock("a"); err != nil {
		t.Error(err)
	}
}
