package turn

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
func (tu *Turns) markDue(s *session.State, touched []string, t *Changes) {
	due := &s.Recorder.Due
	if tu.Options.Strategy != workspace.AutoCommit {
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
	if at := tu.IndexTime(); t.During(at) {
		due.Index = at
	}
}

// IndexTime returns when git's index was last written.
func (tu *Turns) IndexTime() time.Time {
	info, err := os.Lstat(filepath.Join(tu.Repo.GitDir, "index"))
	if err != nil {
		return time.Time{}
	}
	return disk.Changed(info)
}
