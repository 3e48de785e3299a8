package workspace

import (
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// ClockSlack is how far the times of a transcript and of the file system may be
// apart.
const ClockSlack = 50 * time.Millisecond

// RemovalTime is when the path's place last changed: that of the nearest
// directory that is still there.
func RemovalTime(root, p string) time.Time {
	for p != "." {
		p = path.Dir(p)
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(p))); err == nil {
			return disk.Changed(info)
		}
	}
	return time.Time{}
}
