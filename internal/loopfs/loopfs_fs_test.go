//go:build fs && linux

package loopfs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestFSReopen mounts a file system that is already mounted. A loop device without a file, or with
// another file, must not be mounted instead.
func TestFSReopen(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting needs root")
	}
	dir := t.TempDir()
	image := func(name string) (path, id string) {
		path = filepath.Join(dir, name)
		testkit.MakeImage(t, testkit.Ext4, 16, path)
		id, err := FileID(path)
		if err != nil {
			t.Fatal(err)
		}
		return path, id
	}
	one, oneID := image("one")
	two, twoID := image("two")
	open := func(path string) *Detached {
		m, err := Open(path, testkit.Ext4, ReadWrite)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := open(one)
	if err := os.WriteFile(filepath.Join(first.Dir(), "file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Reopen(oneID, testkit.Ext4)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(again.Dir(), "file")); string(text) != "text" {
		t.Errorf("read %q, %v", text, err)
	}
	devices, err := Find(oneID)
	if err := errors.Join(err, first.Close(), again.Close()); err != nil || len(devices) != 1 {
		t.Fatal(devices, err)
	}
	if m, err := Reopen(oneID, testkit.Ext4); !errors.Is(err, ErrNotAttached) {
		t.Errorf("without a device: %v, %v", m, err)
	}
	if f, err := openDevice(devices[0], oneID); !errors.Is(err, ErrNotAttached) {
		t.Errorf("a device without a file: %v, %v", f, err)
	}
	second := open(two)
	defer func() { _ = second.Close() }()
	others, err := Find(twoID)
	if err != nil || len(others) != 1 {
		t.Fatal(others, err)
	}
	if f, err := openDevice(others[0], oneID); !errors.Is(err, ErrNotAttached) {
		t.Errorf("a device with another file: %v, %v", f, err)
	}
}
