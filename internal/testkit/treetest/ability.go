package treetest

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// Abilities are the features of a file system that this process can use.
type Abilities struct {
	Symlinks, Links, FIFOs, Sockets bool
	Modes, Owners                   bool
	Xattrs, LinkXattrs              bool // of files and directories; of symlinks
	Holes                           bool
	// AnyBytes: names of any bytes. Nanos: times to the nanosecond. Old: times
	// before 1970.
	AnyBytes, Nanos, Old bool
}

// Probe determines the abilities in a directory.
func Probe(tb testkit.TB, dir string) Abilities {
	tb.Helper()
	at, err := os.MkdirTemp(dir, ".probe-")
	if err != nil {
		tb.Fatalf("probe: %v", err)
	}
	name := func(s string) string { return filepath.Join(at, s) }
	if err := os.WriteFile(name("file"), make([]byte, 1<<17), 0o644); err != nil {
		tb.Fatalf("probe: %v", err)
	}
	can := Abilities{
		Symlinks: unix.Symlink("nowhere", name("link")) == nil,
		Links:    unix.Link(name("file"), name("second")) == nil,
		FIFOs:    unix.Mkfifo(name("fifo"), 0o644) == nil,
		Sockets:  socket(name("socket")) == nil,
		Owners:   os.Geteuid() == 0 && unix.Lchown(name("file"), 1234, 1234) == nil,
		Xattrs:   unix.Lsetxattr(name("file"), "user.probe", []byte("x"), 0) == nil,
		AnyBytes: os.WriteFile(name("\xff\\*?:\n"), nil, 0o644) == nil,
		Nanos:    keeps(name("file"), time.Unix(1e9, 123456789)),
		Old:      keeps(name("file"), time.Unix(-1e6, 0)),
	}
	can.LinkXattrs = can.Symlinks && unix.Lsetxattr(name("link"), "trusted.probe", []byte("x"), 0) == nil
	if err := os.Chmod(name("file"), 0o4701); err == nil {
		info, err := os.Lstat(name("file"))
		can.Modes = err == nil && info.Mode()&(os.ModePerm|os.ModeSetuid) == 0o701|os.ModeSetuid
	}
	if err := os.Truncate(name("file"), 1<<20); err == nil {
		data, err := dataOf(name("file"), 1<<20)
		can.Holes = err == nil && data != ""
	}
	if err := os.RemoveAll(at); err != nil {
		tb.Fatalf("probe: %v", err)
	}
	return can
}

func keeps(path string, when time.Time) bool {
	var st unix.Stat_t
	return setTime(path, when.UnixNano()) == nil && unix.Lstat(path, &st) == nil && mtime(&st) == when.UnixNano()
}

// setTime sets the mtime of the path itself.
func setTime(path string, nanos int64) error {
	ts := unix.NsecToTimespec(nanos)
	return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}
