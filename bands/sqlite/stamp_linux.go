package sqlite

import (
	"time"

	"golang.org/x/sys/unix"
)

// stampClock is the clock that the kernel stamps changes of files with, which
// moves a few hundred times a second.
func stampClock() int64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now) != nil {
		return 0
	}
	return now.Nano()
}

// settled reports whether any change after the clock was at now has another
// stamp than this one.
func settled(stamp, now int64) bool {
	if stamp%int64(time.Second) == 0 {
		// A file system that stamps whole seconds; FAT every other.
		return now-stamp >= int64(2*time.Second)
	}
	return stamp < now
}
