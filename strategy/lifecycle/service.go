package lifecycle

import (
	"errors"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// TempFiles are temporary files whose writers were stopped.
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
