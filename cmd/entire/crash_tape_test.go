package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// tape holds the files of a scene, to restore them later. Unchanged files are left alone, so
// that their times still match git's index and the session's state.
type tape struct {
	root  string
	files map[string]*taped
	dirs  map[string]bool
}

type taped struct {
	info fs.FileInfo
	data []byte
	link string
}

// record reads all files below root.
func record(tb testkit.TB, root string) *tape {
	tb.Helper()
	t := &tape{root: root, files: map[string]*taped{}, dirs: map[string]bool{}}
	t.walk(tb, func(path string, info fs.FileInfo) {
		if info.IsDir() {
			t.dirs[path] = true
			return
		}
		f := &taped{info: info}
		var err error
		if info.Mode()&fs.ModeSymlink != 0 {
			f.link, err = os.Readlink(path)
		} else {
			f.data, err = os.ReadFile(path)
		}
		if err != nil {
			tb.Fatalf("record: %v", err)
		}
		t.files[path] = f
	})
	return t
}

func (t *tape) walk(tb testkit.TB, visit func(path string, info fs.FileInfo)) {
	tb.Helper()
	err := filepath.WalkDir(t.root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			visit(path, info)
		}
		return err
	})
	if err != nil {
		tb.Fatalf("walk: %v", err)
	}
}

// rewind restores the recorded files.
func (t *tape) rewind(tb testkit.TB) {
	tb.Helper()
	seen := map[string]bool{}
	var gone []string
	t.walk(tb, func(path string, info fs.FileInfo) {
		if seen[path] = true; t.files[path] == nil && !t.dirs[path] {
			gone = append(gone, path)
		} else if f := t.files[path]; f != nil && !f.is(info) {
			seen[path] = false
			if !os.SameFile(f.info, info) || f.info.Mode().Type() != info.Mode().Type() {
				gone = append(gone, path)
			}
		}
	})
	for _, path := range gone {
		if err := os.RemoveAll(path); err != nil {
			tb.Fatalf("rewind: %v", err)
		}
	}
	for path := range t.dirs {
		if !seen[path] {
			if err := os.MkdirAll(path, 0o755); err != nil {
				tb.Fatalf("rewind: %v", err)
			}
		}
	}
	for path, f := range t.files {
		if !seen[path] {
			f.restore(tb, path)
		}
	}
}

func (f *taped) is(info fs.FileInfo) bool {
	return os.SameFile(f.info, info) && f.info.Size() == info.Size() && f.info.ModTime().Equal(info.ModTime()) && f.info.Mode() == info.Mode()
}

// restore writes the file again, in place if it is still the same file: a transcript that has
// grown keeps its inode.
func (f *taped) restore(tb testkit.TB, path string) {
	tb.Helper()
	var err error
	if f.link != "" {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			tb.Fatalf("rewind: %v", err)
		}
		err = os.Symlink(f.link, path)
	} else {
		if info, gone := os.Lstat(path); gone != nil || info.Mode()&0o200 != 0 { // a read-only file is git's, and only its times have changed
			err = os.WriteFile(path, f.data, f.info.Mode().Perm())
		}
		err = errors.Join(err, os.Chtimes(path, f.info.ModTime(), f.info.ModTime()))
	}
	if err == nil {
		f.info, err = os.Lstat(path)
	}
	if err != nil {
		tb.Fatalf("rewind: %v", err)
	}
}
