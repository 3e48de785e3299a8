package disk_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seed-3aff656d/entire/internal/disk"
)

func TestSyncFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var files []string
	for i := range 40 { // more than are synced concurrently
		path := filepath.Join(dir, strconv.Itoa(i))
		if i%3 > 0 { // the other files don't exist
			if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		files = append(files, path)
	}
	if err := disk.SyncFiles(files, []string{dir, filepath.Join(dir, "none")}); err != nil {
		t.Error(err)
	}
	if err := disk.SyncFiles([]string{filepath.Join(files[1], "below a file")}, nil); err == nil {
		t.Error("a path below a file was synced")
	}
}

// TestSyncDirUnsupported syncs a directory of a file system that returns EINVAL, such as proc.
func TestSyncDirUnsupported(t *testing.T) {
	t.Parallel()
	const dir = "/proc/self"
	d, err := os.Open(dir)
	if err != nil {
		t.Skip("no proc here")
	}
	refused := d.Sync()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if refused == nil {
		t.Skip("proc syncs directories here")
	}
	if err := disk.SyncDir(dir); err != nil {
		t.Error(err)
	}
}

func TestMkdirAll(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := disk.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := disk.MkdirAll(filepath.Join(file, "c"), 0o700); err == nil {
		t.Error("a directory was made below a file")
	}
	for range 2 {
		if err := disk.Remove(file); err != nil {
			t.Error(err)
		}
	}
}
