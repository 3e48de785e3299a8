package tracking

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// markDue records the files to commit after the turn if each turn gets a commit: those that it
// changed, and those of earlier turns that couldn't be committed. Under another strategy the
// record is cleared; the files stay pending.
func markDue(w *workspace.Workspace, s *session.State, touched []string, t *TurnChanges) {
	due := &s.Recorder.Due
	if w.Options.Strategy != workspace.AutoCommit {
		*due = session.Due{}
		return
	}
	files := slices.Compact(slices.Sorted(slices.Values(slices.Concat(due.Files, touched))))
	due.Files = slices.DeleteFunc(files, func(p string) bool { return !workspace.ContainsPath(s.FilesTouched, p) })
	if n := len(s.Recorder.Turn.Prompts); n > 0 {
		due.Subject = checkpoint.Subject(s.Recorder.Turn.Prompts[n-1])
	} else if due.Subject == "" {
		due.Subject = checkpoint.Subject("")
	}
	due.Index = time.Time{}
	if at := IndexTime(w); t.During(at) {
		due.Index = at
	}
}

// IndexTime returns when git's index was last written.
func IndexTime(w *workspace.Workspace) time.Time {
	info, err := os.Lstat(filepath.Join(w.Repo.GitDir, "index"))
	if err != nil {
		return time.Time{}
	}
	return disk.Changed(info)
}
