package treetest

import "golang.org/x/sys/unix"

func mtime(st *unix.Stat_t) int64 { return st.Mtim.Nano() }

// punch punches a hole in a file.
func punch(fd int, off, n int64) error {
	return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
}

func socket(path string) error { return unix.Mknod(path, unix.S_IFSOCK|0o644, 0) }
