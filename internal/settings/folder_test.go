package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/internal/settings"
)

func TestFolderOfANewWorktreeIsIgnored(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for range 2 {
		dir, err := settings.WorktreeFolder(root).Make("logs", 0o700)
		if err != nil || dir != filepath.Join(root, ".entire", "logs") {
			t.Fatalf("%s, %v", dir, err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(root, ".entire", ".gitignore")); err != nil || string(data) != "*\n" {
		t.Errorf("it ignores %q, %v", data, err)
	}
}

func TestFolderLeavesAnEnabledWorktreeAlone(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".entire"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := settings.WorktreeFolder(root).Make("tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(root, ".entire", ".gitignore")); err == nil {
		t.Error("it wrote a .gitignore")
	}
}

func TestFolderFollowsNoLink(t *testing.T) {
	t.Parallel()
	for _, link := range []string{".entire", ".entire/logs"} {
		root, elsewhere := t.TempDir(), t.TempDir()
		if link != ".entire" {
			if err := os.Mkdir(filepath.Join(root, ".entire"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(elsewhere, filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
		if dir, err := settings.WorktreeFolder(root).Make("logs", 0o700); err == nil {
			t.Errorf("through %s to %s", link, dir)
		}
	}
	if _, err := settings.WorktreeFolder(filepath.Join(t.TempDir(), "gone")).Make("logs", 0o700); err == nil {
		t.Error("the worktree was made")
	}
}
