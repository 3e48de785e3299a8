package main

import (
	"io/fs"
	"syscall"
)

// inodeOf returns the inode number, to recognize names of one file; 0 if there is none.
func inodeOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Ino) //nolint:unconvert // 32 bits on some systems
	}
	return 0
}
