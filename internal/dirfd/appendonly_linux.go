package dirfd

import "golang.org/x/sys/unix"

// AppendOnly reports whether names can only be added to the directory, and none
// removed or replaced (chattr +a).
func AppendOnly(d *Dir) bool {
	var st unix.Statx_t
	err := unix.Statx(d.fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, 0, &st)
	return err == nil && st.Attributes&unix.STATX_ATTR_APPEND != 0
}
