package sqlite

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// cloneFrom is the size above which a clone is cheaper than a copy in memory.
const cloneFrom = 4 << 20

// privateCopy copies the part to a file without a name: a clone beside it, or memory up to the
// limit. If neither is possible, it returns the part's file.
func privateCopy(dir *dirfd.Dir, p *part, limit int64) (*os.File, error) {
	if p.st.Size > cloneFrom {
		if f, ok := cloned(dir, p); ok {
			return f, nil
		}
	}
	if p.st.Size > limit {
		return p.file, nil
	}
	fd, err := unix.MemfdCreate("database", unix.MFD_CLOEXEC)
	if err != nil {
		return p.file, nil //nolint:nilerr // then the part is read in place
	}
	f := os.NewFile(uintptr(fd), p.file.Name())
	buf := make([]byte, min(p.st.Size, 256<<10))
	for at := int64(0); at < p.st.Size; at += int64(len(buf)) {
		b := buf[:min(int64(len(buf)), p.st.Size-at)]
		err := readFull(p.file, b, at)
		if err == nil {
			if _, err = f.Write(b); err != nil {
				err = fmt.Errorf("capture database: %w", err)
			}
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	return f, nil
}

// cloned makes a clone if the file system can.
func cloned(dir *dirfd.Dir, p *part) (*os.File, bool) {
	if disk.Step("create", p.file.Name()) != nil {
		return nil, false
	}
	fd, err := unix.Open(dir.Path(), unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, false
	}
	f := os.NewFile(uintptr(fd), p.file.Name())
	err = disk.Clone(f, p.file)
	if err == nil {
		// The log may have grown since its stat.
		err = f.Truncate(p.st.Size)
	}
	if err != nil {
		_ = f.Close()
		return nil, false
	}
	return f, true
}

// stampClock returns the time of the clock for the kernel's time stamps of files, which advances a
// few hundred times a second.
func stampClock() int64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now) != nil {
		return 0
	}
	return now.Nano()
}

// settled reports whether every change after the clock's time now gets another stamp than this one.
func settled(stamp, now int64) bool {
	if stamp%int64(time.Second) == 0 {
		// The file system stamps whole seconds, or on FAT every other second.
		return now-stamp >= int64(2*time.Second)
	}
	return stamp < now
}
