package dirfd_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// TestSwap replaces or removes a file that another program may have saved meanwhile, and compares
// the remaining files.
func TestSwap(t *testing.T) {
	replace := func(dir *dirfd.Dir, was *dirfd.Stat) error { return dirfd.ReplaceUnchanged(dir, "temp", "file", was) }
	remove := func(dir *dirfd.Dir, was *dirfd.Stat) error { return dirfd.RemoveUnchanged(dir, "temp2", "file", was) }
	save := func(dir string) error { return os.WriteFile(filepath.Join(dir, "file"), []byte("saved"), 0o600) }
	rename := func(dir string) error { return os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "file")) }
	chmod := func(dir string) error { return os.Chmod(filepath.Join(dir, "file"), 0o640) }
	none := func(string) error { return nil }
	for name, test := range map[string]struct {
		do        func(*dirfd.Dir, *dirfd.Stat) error
		meanwhile func(dir string) error
		want      map[string]string
		changed   bool
	}{
		"replace":                {replace, none, map[string]string{"file": "new", "other": "longer"}, false},
		"replace a saved file":   {replace, save, map[string]string{"file": "saved", "other": "longer"}, true},
		"replace another inode":  {replace, rename, map[string]string{"file": "longer"}, true},
		"replace a changed mode": {replace, chmod, map[string]string{"file": "old", "other": "longer"}, true},
		"remove":                 {remove, none, map[string]string{"temp": "new", "other": "longer"}, false},
		"remove a saved file":    {remove, save, map[string]string{"file": "saved", "temp": "new", "other": "longer"}, true},
		"remove another inode":   {remove, rename, map[string]string{"file": "longer", "temp": "new"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range map[string]string{"file": "old", "temp": "new", "other": "longer"} {
				if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			dir, was := open(t, root)
			if err := test.meanwhile(root); err != nil {
				t.Fatal(err)
			}
			if err := test.do(dir, &was); errors.Is(err, dirfd.ErrChanged) != test.changed || err != nil && !test.changed {
				t.Errorf("returned %v", err)
			}
			if diff := cmp.Diff(test.want, files(t, root)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRestoreUnlessReplaced keeps a file saved under the name meanwhile.
func TestRestoreUnlessReplaced(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"temp": "old", "file": "newer"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir, _ := open(t, root)
	if err := dirfd.RestoreUnlessReplaced(dir, "temp", "file"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"file": "newer"}, files(t, root)); diff != "" {
		t.Error(diff)
	}
}

func open(t *testing.T, root string) (*dirfd.Dir, dirfd.Stat) {
	t.Helper()
	dir, err := dirfd.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	var st dirfd.Stat
	if err := dir.Stat("file", &st); err != nil {
		t.Fatal(err)
	}
	return dir, st
}

func files(t *testing.T, root string) map[string]string {
	t.Helper()
	list, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range list {
		data, err := os.ReadFile(filepath.Join(root, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found[e.Name()] = string(data)
	}
	return found
}
