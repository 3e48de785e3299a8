package disk_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/disk"
)

func TestWritesReplaceTheWholeFile(t *testing.T) {
	t.Parallel()
	stream := func(path string, data []byte, perm fs.FileMode) error {
		return disk.WriteStream(path, perm, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	}
	for name, write := range map[string]func(string, []byte, fs.FileMode) error{"durable": disk.WriteDurable, "cache": disk.WriteCache, "stream": stream} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			for _, text := range []string{"a longer first text", "short", ""} {
				if err := write(path, []byte(text), 0o640); err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(path); err != nil || string(got) != text {
					t.Errorf("read %q, %v", got, err)
				}
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if diff := cmp.Diff([]string{"file"}, names(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFailedWriteKeepsOldFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := disk.WriteDurable(filepath.Join(dir, "missing", "file"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into a missing folder: %v", err)
	}
	folder := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(folder, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := disk.WriteDurable(folder, []byte("x"), 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}
	failure := errors.New("no more")
	err := disk.WriteStream(folder, 0o600, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 1<<20))
		return errors.Join(err, failure)
	})
	if !errors.Is(err, failure) {
		t.Errorf("a stream that fails: %v", err)
	}
	if diff := cmp.Diff([]string{"folder"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestWriteReplacesALinkNotItsTarget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(target, []byte("theirs"), 0o600), os.Symlink("target", link)); err != nil {
		t.Fatal(err)
	}
	if err := disk.WriteCache(link, []byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != "theirs" {
		t.Errorf("the target is %q, %v", got, err)
	}
}

func TestSweepTempRemovesOnlyOwnOldFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Unix(1_700_000_000, 0)
	for name, age := range map[string]time.Duration{
		"state.json": 48 * time.Hour, "state.json.entire-tmp-1": 2 * time.Hour, "state.json.entire-tmp-2": time.Minute, "mine.tmp": 48 * time.Hour,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, now.Add(-age), now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if err := disk.SweepTemp(dir, now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"mine.tmp", "state.json", "state.json.entire-tmp-2"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	if err := disk.SweepTemp(filepath.Join(dir, "missing"), now); err != nil {
		t.Errorf("a missing folder: %v", err)
	}
}

func TestInodeDetectsReplacedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.WriteCache(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if disk.Inode(before) == disk.Inode(after) {
		t.Error("a replaced file is taken for the old one")
	}
	if disk.Changed(after).Before(disk.Changed(before)) {
		t.Error("the change time went back")
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}
