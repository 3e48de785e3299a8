package dirfd

import (
	"time"

	"golang.org/x/sys/unix"
)

// Entry is a name in an open directory. Its methods change what it is the name of;
// of a symbolic link the link itself. It is used while the directory is open.
type Entry struct {
	dir  *Dir
	name string
}

// Entry returns the entry name, which need not exist.
func (d *Dir) Entry(name string) Entry { return Entry{d, name} }

// SetTime sets when the entry was last modified, and leaves its access time as it
// is. A time that the file system can't store becomes the nearest that it can.
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

// Chmod sets the permissions (07777) of the entry, which is no symbolic link: where
// links have none of their own it fails.
func (e Entry) Chmod(mode uint32) error {
	return e.dir.change("chmod", e.name, func() error { return fchmodat(e.dir.fd, e.name, mode&ModePerm) })
}

// Chown sets the owner of the entry.
func (e Entry) Chown(uid, gid int) error {
	return e.dir.change("chown", e.name, func() error {
		return unix.Fchownat(e.dir.fd, e.name, uid, gid, unix.AT_SYMLINK_NOFOLLOW)
	})
}
