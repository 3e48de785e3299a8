package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/disk"
)

func TestGlobTakesDirectoryLiterally(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "[w]", "[", `back\slash`, "a*b?", "[a-"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), name)
			for _, file := range []string{"worktrees/b/HEAD", "worktrees/a/HEAD", "worktrees/a/index", "message", "message-squash", "other"} {
				path := filepath.Join(dir, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range []struct {
				patterns, want []string
			}{
				{[]string{"worktrees", "*", "HEAD"}, []string{"worktrees/a/HEAD", "worktrees/b/HEAD"}},
				{[]string{"message*"}, []string{"message", "message-squash"}},
				{[]string{"message"}, []string{"message"}},
				{[]string{"missing", "*"}, nil},
			} {
				var want []string
				for _, file := range c.want {
					want = append(want, filepath.Join(dir, filepath.FromSlash(file)))
				}
				if diff := cmp.Diff(want, disk.Glob(dir, c.patterns...)); diff != "" {
					t.Errorf("%q: (-want +got):\n%s", c.patterns, diff)
				}
			}
		})
	}
}
