//go:build linux && !(amd64 || arm64 || ppc64le || riscv64 || s390x)

package disk

import "golang.org/x/sys/unix"

// statx is unix.Statx for one entry.
func statx(dir int, name string, st *unix.Statx_t) error {
	if err := checkName(name); err != nil {
		return err
	}
	return retry(func() error { return unix.Statx(dir, name, statxFlags, unix.STATX_BASIC_STATS, st) })
}
