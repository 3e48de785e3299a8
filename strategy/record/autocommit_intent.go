package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// intent records the new files that were added to the index for a turn's commit. It is written
// before the index, and removed when the commit is made or the index is restored.
type intent struct {
	Files session.Paths `json:"files"`
}

// commitFile returns the path of a file about the turns' commits of this worktree.
func commitFile(w *workspace.Workspace, kind string) string {
	return filepath.Join(w.RecordsDir(), "commit-"+checkpoint.WorktreeHash(w.Repo.WorktreeID)+kind)
}

// intended reports whether an intent is recorded.
func intended(w *workspace.Workspace) bool {
	_, err := os.Lstat(commitFile(w, ".json"))
	return err == nil
}

// withdraw unstages the files of the intent that still have no content in the index: their commit
// was not made.
func withdraw(ctx context.Context, w *workspace.Workspace) error {
	path := commitFile(w, ".json")
	data, err := disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read note of new files: %w", err)
	}
	var note intent
	if json.Unmarshal(data, &note) == nil && len(note.Files) > 0 {
		entries, err := git.Status(ctx, w.Repo, note.Files...)
		if err != nil {
			return fmt.Errorf("take new files from the index again: %w", err)
		}
		var empty []string
		for _, e := range entries {
			if e.Index == ' ' { // else it was staged since
				empty = append(empty, e.Path)
			}
		}
		if err := git.Unstage(ctx, w.Repo, empty); err != nil {
			return fmt.Errorf("take new files from the index again: %w", err)
		}
	}
	return dropIntent(w)
}

// dropIntent removes the intent.
func dropIntent(w *workspace.Workspace) error {
	path := commitFile(w, ".json")
	if !intended(w) {
		return nil
	}
	if err := disk.Remove(path); err != nil {
		return fmt.Errorf("remove note of new files: %w", err)
	}
	return nil
}
