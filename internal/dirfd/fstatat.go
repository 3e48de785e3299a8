package dirfd

import (
	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// fstatat is unix.Fstatat for one entry.
func fstatat(dir int, name string, st *unix.Stat_t) error {
	if err := checkName(name); err != nil {
		return err
	}
	return disk.IgnoreEINTR(func() error { return unix.Fstatat(dir, name, st, unix.AT_SYMLINK_NOFOLLOW) })
}
