package strategy

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Locked runs do while this process holds the repository's lock.
func (r *Recorder) Locked(ctx context.Context, do func() error) error { return r.locked(ctx, do) }

// TempFiles are temporary files whose writers were stopped.
func (r *Recorder) TempFiles() ([]string, error) {
	dirs := r.tempDirs()
	var all []string
	failed := make([]error, 0, len(dirs))
	for _, dir := range dirs {
		paths, err := disk.TempFiles(dir, r.Env.Now().Add(-sweepAge))
		all, failed = append(all, paths...), append(failed, err)
	}
	return all, errors.Join(failed...)
}
