package testkit

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// ProcessorTime returns the processor time that this process uses during f. Load of other processes
// doesn't affect it. It is for tests that are not parallel.
func ProcessorTime(tb TB, f func()) time.Duration {
	tb.Helper()
	runtime.GC()
	before := processorTime(tb)
	f()
	return processorTime(tb) - before
}

func processorTime(tb TB) time.Duration {
	tb.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		tb.Fatalf("getrusage: %v", err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
