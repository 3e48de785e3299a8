// Package dirfd reads and changes directories through open descriptors. A name is always one entry
// of an open directory: neither changes to the path above it, nor symbolic links put there by other
// processes, can redirect an operation.
//
// ReplaceUnchanged and RemoveUnchanged change files and symbolic links only while they are
// unchanged since the caller examined them. A file that another program saved in between is
// restored. Between two of their steps a name always has a file, unless it is to be removed.
package dirfd

import (
	"errors"
	"io/fs"
	"math"
	"strings"
	"syscall"
	"time"
)

// Stat holds the metadata of one file, in a form that can be filled a hundred thousand times
// without allocating.
type Stat struct {
	Dev, Ino, Nlink uint64
	Mode            uint32 // file type and permissions: S_IFMT | 07777
	UID, GID        uint32
	Size            int64
	Blocks          int64 // allocated blocks of 512 bytes
	// Mtime and Ctime are nanoseconds since 1970, clamped to the range of an int64 (the years 1677
	// to 2262). ModTime returns the exact time.
	Mtime, Ctime int64
	// far is the exact modification time, used if Mtime is clamped.
	far  struct{ sec, nsec int64 }
	Rdev uint64
	// Mounted reports whether the entry is a mount point, including bind mounts of the same file
	// system. Only Dir.Stat sets it, if the system reports it.
	Mounted bool
}

// File types in Stat.Mode, the same on every Unix.
const (
	ModeType    = 0o170000
	ModeSocket  = 0o140000
	ModeSymlink = 0o120000
	ModeRegular = 0o100000
	ModeBlock   = 0o060000
	ModeDir     = 0o040000
	ModeChar    = 0o020000
	ModeFIFO    = 0o010000
	ModePerm    = 0o7777
)

// Types of entries as reported by getdents(2) and passed on by Dir.Names. TypeUnknown requires a
// Stat.
const (
	TypeUnknown = 0
	TypeFIFO    = 1
	TypeChar    = 2
	TypeDir     = 4
	TypeBlock   = 6
	TypeRegular = 8
	TypeSymlink = 10
	TypeSocket  = 12
)

// ModTime returns the modification time, in UTC.
func (s *Stat) ModTime() time.Time {
	if s.Mtime == math.MaxInt64 || s.Mtime == math.MinInt64 {
		return time.Unix(s.far.sec, s.far.nsec).UTC()
	}
	return time.Unix(0, s.Mtime).UTC()
}

// setTimes sets the times of modification and change, given in seconds and nanoseconds since 1970.
func (s *Stat) setTimes(msec, mnsec, csec, cnsec int64) {
	s.Mtime, s.Ctime = nanos(msec, mnsec), nanos(csec, cnsec)
	s.far.sec, s.far.nsec = msec, mnsec
}

// nanos returns nanoseconds since 1970, clamped to the range of an int64.
func nanos(sec, nsec int64) int64 {
	const second = 1_000_000_000
	switch {
	case sec >= math.MaxInt64/second:
		return math.MaxInt64
	case sec <= math.MinInt64/second:
		return math.MinInt64
	}
	return sec*second + nsec
}

// IsDir reports whether it is a directory.
func (s *Stat) IsDir() bool { return s.Mode&ModeType == ModeDir }

// IsRegular reports whether it is a regular file.
func (s *Stat) IsRegular() bool { return s.Mode&ModeType == ModeRegular }

// IsSymlink reports whether it is a symbolic link.
func (s *Stat) IsSymlink() bool { return s.Mode&ModeType == ModeSymlink }

// Coarse reports whether the file system seems to store change times in whole seconds only: a
// change within the second in which the file was read may remain undetected.
func (s *Stat) Coarse() bool { return s.Ctime%1_000_000_000 == 0 }

// ErrNotRegular means that an entry is not a regular file.
var ErrNotRegular = errors.New("not a regular file")

// errBadName is the error for a name that could refer to something outside of the directory.
var errBadName = errors.New("not a name in a directory")

// Dir is an open directory. Its methods take the name of an entry, never a path: operations stay in
// the directory even if other processes change the path that led to it, and no symbolic link is
// followed.
//
// It is safe for concurrent use, except for Names and Close.
type Dir struct {
	fd   int
	path string // for messages only
}

// Path returns the path by which the directory was opened, for messages.
func (d *Dir) Path() string { return d.path }

// join returns the path of an entry, for messages.
func (d *Dir) join(name string) string {
	if strings.HasSuffix(d.path, "/") {
		return d.path + name
	}
	return d.path + "/" + name
}

// fail returns the error of an operation on an entry, or nil if err is nil.
func (d *Dir) fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: d.join(name), Err: err}
}

// checkName returns an error if name is not a single path element.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.IndexByte(name, '/') >= 0 {
		return errBadName
	}
	if strings.IndexByte(name, 0) >= 0 {
		return syscall.EINVAL
	}
	return nil
}
