package record

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// sweepAge is the age at which no writer of a temporary file still runs.
const sweepAge = time.Hour

// SweepTempFiles removes the temporary files of writers that were stopped.
func SweepTempFiles(ctx context.Context, w *workspace.Workspace) {
	before := w.Env.Now().Add(-sweepAge)
	for _, dir := range tempDirs(w) {
		if err := disk.SweepTemp(dir, before); err != nil {
			w.Log.WarnContext(ctx, "temporary files left", "error", err.Error())
		}
	}
	checkout := workspace.CheckoutDir(w.Repo, w.Repo.WorktreeID)
	if info, err := os.Lstat(checkout); err == nil && info.ModTime().Before(before) {
		if err := disk.RemoveAll(checkout); err != nil {
			w.Log.WarnContext(ctx, "checked out files left", "error", err.Error())
		}
	}
}

// tempDirs returns the folders that hooks write small files to, including those of the newest
// snapshots only, as older ones no longer change.
func tempDirs(w *workspace.Workspace) []string {
	const newest = 20
	var dirs []string
	if store, err := tracking.SnapshotStore(w); err == nil {
		dirs = append(dirs, tracking.StoreDir(w), tracking.RequestsDir(w))
		if versions, err := store.Versions(); err == nil {
			for _, v := range versions[max(0, len(versions)-newest):] {
				dirs = append(dirs, store.SnapshotDir(v))
			}
		}
	}
	own := filepath.Join(w.Repo.Root, ".entire")
	return append(dirs,
		w.RecordsDir(), workspace.BackupDir(w.Repo), w.ForksDir(), tracking.JournalDir(w), w.TranscriptCopies(), workspace.UndecodedDir(w.Repo),
		filepath.Join(w.Repo.CommonDir, "hooks"),
		w.Sessions.Dir(), w.Sessions.SideDir(), w.Repo.GitDir, own, filepath.Join(own, "tmp"))
}

// TempFiles returns the temporary files whose writers were stopped.
func TempFiles(w *workspace.Workspace) ([]string, error) {
	dirs := tempDirs(w)
	var all []string
	failed := make([]error, 0, len(dirs))
	for _, dir := range dirs {
		paths, err := disk.TempFiles(dir, w.Env.Now().Add(-sweepAge))
		all, failed = append(all, paths...), append(failed, err)
	}
	return all, errors.Join(failed...)
}
