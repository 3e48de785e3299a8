package dirfd

import (
	"time"

	"golang.org/x/sys/unix"
)

// Entry is a name in an open directory. Its methods change the named file; they don't follow a
// symbolic link. It must not be used after the directory is closed.
type Entry struct {
	dir  *Dir
	name string
}

// Entry returns the entry name, which need not exist.
func (d *Dir) Entry(name string) Entry { return Entry{d, name} }

// SetTime sets the modification time of the entry, and leaves its access time unchanged. A time
// that the file system can't store is rounded to the nearest one that it can.
func (e Entry) SetTime(mtime time.Time) error {
	return e.dir.change("utimes", e.name, func() error { return utimes(e.dir.fd, e.name, unix.AT_SYMLINK_NOFOLLOW, mtime) })
}

func utimes(dir int, name string, flags int, mtime time.Time) error {
	ts, err := unix.TimeToTimespec(mtime)
	if err != nil {
		return err
	}
	return unix.UtimesNanoAt(dir, name, []unix.Timespec{{Nsec: utimeOmit}, ts}, flags)
}

// Chmod sets the permissions (07777) of the entry. It fails for a symbolic link if links have no
// permissions of their own.
func (e Entry) Chmod(mode uint32) error {
	return e.dir.change("chmod", e.name, func() error { return fchmodat(e.dir.fd, e.name, mode&ModePerm) })
}

// Chown sets the owner of the entry.
func (e Entry) Chown(uid, gid int) error {
	return e.dir.change("chown", e.name, func() error {
		return unix.Fchownat(e.dir.fd, e.name, uid, gid, unix.AT_SYMLINK_NOFOLLOW)
	})
}
