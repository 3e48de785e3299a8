//go:build fs

package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/bands/sqlite"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestFSCapture captures a database large enough to be cloned, on file systems that clone and
// others.
func TestFSCapture(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"xfs", "btrfs", "vfat", "exfat", "tmpfs"} {
		for _, mode := range []string{"WAL", "TRUNCATE"} {
			t.Run(kind+" "+mode, func(t *testing.T) {
				t.Parallel()
				underLoad(t, sqlite.Capture, 25, job{
					Path:    filepath.Join(testkit.Mount(t, kind, 400), "x.db"),
					Pragmas: []string{"journal_mode(" + mode + ")", "synchronous(NORMAL)"},
					Setup:   []string{"CREATE TABLE large AS SELECT randomblob(6000000) AS body"},
					Loop:    true, Rhythm: rhythm,
				})
			})
		}
	}
}
