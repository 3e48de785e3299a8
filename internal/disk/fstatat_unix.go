//go:build linux || darwin

package disk

import "golang.org/x/sys/unix"

// fstatat tells of one entry.
func fstatat(dir int, name string, st *unix.Stat_t) error {
	if err := checkName(name); err != nil {
		return err
	}
	return retry(func() error { return unix.Fstatat(dir, name, st, unix.AT_SYMLINK_NOFOLLOW) })
}
