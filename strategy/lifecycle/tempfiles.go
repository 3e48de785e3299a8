package lifecycle

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// sweepAge is the age at which no writer of a temporary file still runs.
const sweepAge = time.Hour

// SweepTempFiles removes the temporary files of writers that were stopped.
func (m *Machine) SweepTempFiles(ctx context.Context) {
	before := m.Env.Now().Add(-sweepAge)
	for _, dir := range m.tempDirs() {
		if err := disk.SweepTemp(dir, before); err != nil {
			m.Log.WarnContext(ctx, "temporary files left", "error", err.Error())
		}
	}
}

// tempDirs returns the folders that hooks write small files to, including those of the newest
// snapshots only, as older ones no longer change.
func (m *Machine) tempDirs() []string {
	const newest = 20
	var dirs []string
	if store, err := m.snapshots.Store(); err == nil {
		dirs = append(dirs, m.snapshots.StoreDir(), m.requests.Dir())
		if versions, err := store.Versions(); err == nil {
			for _, v := range versions[max(0, len(versions)-newest):] {
				dirs = append(dirs, store.SnapshotDir(v))
			}
		}
	}
	own := filepath.Join(m.Repo.Root, ".entire")
	return append(dirs,
		m.RecordsDir(), filepath.Join(m.RecordsDir(), "backup"), m.ForksDir(), m.journal.Dir(),
		filepath.Join(m.Repo.CommonDir, "hooks"),
		m.Sessions.Dir(), m.Sessions.SideDir(), m.Repo.GitDir, own, filepath.Join(own, "tmp"))
}

// TempFiles returns the temporary files whose writers were stopped.
func (m *Machine) TempFiles() ([]string, error) {
	dirs := m.tempDirs()
	var all []string
	failed := make([]error, 0, len(dirs))
	for _, dir := range dirs {
		paths, err := disk.TempFiles(dir, m.Env.Now().Add(-sweepAge))
		all, failed = append(all, paths...), append(failed, err)
	}
	return all, errors.Join(failed...)
}
