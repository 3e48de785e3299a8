package checkpoint_test

import (
	"slices"
	"testing"

	"github.com/seed-3aff656d/entire/checkpoint"
)

// TestForgottenFilePaths checks the paths of forgotten files: those of a database include its
// logs.
func TestForgottenFilePaths(t *testing.T) {
	t.Parallel()
	var tombs checkpoint.Tombstones
	for _, path := range []string{"key", "a/b [1]*?.txt", `back\slash`, "data.db-wal", "key"} {
		tombs.AddFile(path)
	}
	if want := []string{"a/b [1]*?.txt", `back\slash`, "data.db-wal", "key"}; !slices.Equal(tombs.Files, want) {
		t.Errorf("files %q", tombs.Files)
	}
	if err := tombs.Save(t.TempDir()); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]bool{
		"key": true, "key-wal": true, "a/b [1]*?.txt": true, `back\slash`: true, "data.db": true, "data.db-wal": true, "data.db-shm": true,
		"keys": false, "a/key": false, "a/b 1xy.txt": false, "backslash": false, "a/data.db": false,
	} {
		if got := slices.Contains(tombs.FilePaths(), path); got != want {
			t.Errorf("%q is forgotten: %v, want %v", path, got, want)
		}
	}
}
