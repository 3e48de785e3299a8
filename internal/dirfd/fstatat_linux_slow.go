//go:build linux && !(amd64 || arm64 || ppc64le || riscv64 || s390x)

package dirfd

import (
	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// statx is unix.Statx for one entry.
func statx(dir int, name string, st *unix.Statx_t) error {
	if err := checkName(name); err != nil {
		return err
	}
	return disk.IgnoreEINTR(func() error { return unix.Statx(dir, name, statxFlags, unix.STATX_BASIC_STATS, st) })
}
