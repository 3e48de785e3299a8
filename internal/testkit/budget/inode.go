package main

import (
	"io/fs"
	"syscall"
)

// inodeOf tells the names of one file from those of others; 0 if it can't.
func inodeOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Ino) //nolint:unconvert // 32 bits on some systems
	}
	return 0
}
