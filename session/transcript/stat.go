package transcript

import (
	"io/fs"
	"syscall"
)

// openFlags keeps an open from waiting where a pipe took the file's place.
const openFlags = syscall.O_NONBLOCK

// identity returns the numbers by which a file is known whatever its name.
func identity(info fs.FileInfo) (device, inode uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return uint64(st.Dev), uint64(st.Ino) //nolint:unconvert // the types differ between systems
}
