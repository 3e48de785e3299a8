package disk

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// SpaceAt returns the space of the file system that holds the directory dir.
func SpaceAt(dir string) (Space, error) {
	var st unix.Statfs_t
	if err := IgnoreEINTR(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return Space{}, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return Space{
		Total: int64(st.Blocks) * int64(st.Bsize), Free: int64(st.Bavail) * int64(st.Bsize),
		Type: unix.ByteSliceToString(st.Fstypename[:]), Network: st.Flags&unix.MNT_LOCAL == 0,
	}, nil
}
