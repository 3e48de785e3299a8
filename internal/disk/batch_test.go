package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/disk"
)

func TestBatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	made := filepath.Join(dir, "made")
	if err := os.Mkdir(made, 0o700); err != nil {
		t.Fatal(err)
	}
	writeAll(t, map[string]string{
		filepath.Join(made, "inside"): "inside", filepath.Join(dir, "replaced"): "old",
	})
	var b disk.Batch
	b.Sync(made, filepath.Join(made, "inside"), filepath.Join(dir, "none"), made)
	for name, text := range map[string]string{"new": "1", "replaced": "2"} {
		if err := b.Write(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.Rename(made, filepath.Join(dir, "final"))
	if got := readAll(t, dir)["replaced"]; got != "old" {
		t.Errorf("before the commit the file has %q", got)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"new": "1", "replaced": "2", "final/inside": "inside"}
	if diff := cmp.Diff(want, readAll(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestBatchFails checks that a failing rename stops the batch: later files aren't replaced, and no
// temporary file is left.
func TestBatchFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var b disk.Batch
	write := func(name string) {
		if err := b.Write(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	b.Rename(filepath.Join(dir, "missing"), filepath.Join(dir, "second"))
	write("third")
	if err := b.Commit(); err == nil {
		t.Error("a file that isn't there was renamed")
	}
	if diff := cmp.Diff(map[string]string{"first": "first"}, readAll(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestBatchDiscard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var b disk.Batch
	if err := b.Write(filepath.Join(dir, "file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.Discard(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{}, readAll(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func writeAll(t *testing.T, files map[string]string) {
	t.Helper()
	for path, text := range files {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// readAll returns the contents of all files below dir.
func readAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
