package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the largest memory of a process that has ended, in KiB.
func peak(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return usage.Maxrss >> 10 // in bytes there
	}
	return usage.Maxrss
}
