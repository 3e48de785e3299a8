package tracking_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// TestPromptOfAWorktreeOnAnotherFileSystem: if the git directory is on another file system, the turn
// begins by the clock of the worktree's, and nothing is left in the worktree.
func TestPromptOfAWorktreeOnAnotherFileSystem(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(testkit.DiskDir(t))
	if err != nil {
		t.Fatal(err)
	}
	common, err := os.MkdirTemp("/dev/shm", "marks") //nolint:usetesting // another file system
	if err != nil || disk.OnSameDevice(root, common) {
		t.Skip("no other file system", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(common) })
	if err := os.Mkdir(filepath.Join(common, "entire"), 0o700); err != nil {
		t.Fatal(err)
	}
	w := &workspace.Workspace{
		Repo: &git.Repo{Root: root, CommonDir: common, GitDir: common}, Options: workspace.Options{Level: settings.Machine},
		Env: workspace.Environment{Now: time.Now}, Log: slog.New(slog.DiscardHandler),
	}
	for range 20 {
		before := write(t, root, "before")
		at := tracking.MarkPrompt(t.Context(), w, "id")
		after := write(t, root, "after")
		if at.Before(before) || at.After(after) {
			t.Errorf("the turn begins at %s, files were written at %s and %s", at, before, after)
		}
		if again, ok := tracking.PromptTime(w, "id"); !ok || !again.Equal(at) {
			t.Errorf("read again: %s, %t", again, ok)
		}
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Errorf("left in the worktree: %v, %v", entries, err)
	}
	if err := tracking.UnmarkTurn(w, "id", time.Time{}); err != nil {
		t.Error(err)
	}
	if _, ok := tracking.PromptTime(w, "id"); !ok {
		t.Error("the mark of a newer prompt was removed")
	}
}

// write writes and removes a file, and returns its time by the clock of its file system.
func write(t *testing.T, dir, name string) time.Time {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	return disk.Changed(info)
}
