package bands

import (
	"errors"
	"os"
	"time"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// stamp is the moment from which on a file's data may not show a change.
type stamp struct {
	at     int64
	coarse bool // the file system keeps no time of the last change
}

const (
	// otherClock is how far apart the times of two file systems may be, or the
	// steps in which one of them counts.
	otherClock = 2 * time.Second
	// otherMachine is the same where another machine has the clock.
	otherMachine = time.Minute
)

// stamp asks the file system for the time, by writing a file: its clock isn't
// the process's.
func (s *Store) stamp(set takeSettings) (stamp, error) {
	path := s.path(stampFile)
	if err := disk.Step("write", path); err != nil {
		return stamp{}, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return stamp{}, err
	}
	var here, there dirfd.Stat
	_, err = f.WriteAt([]byte{'\n'}, 0)
	if err == nil {
		err = dirfd.StatFile(f, &here)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return stamp{}, err
	}
	root, err := dirfd.OpenRoot(set.Root)
	if err != nil {
		return stamp{}, err
	}
	err = root.Self(&there)
	if err := errors.Join(err, root.Close()); err != nil {
		return stamp{}, err
	}
	space, err := disk.SpaceAt(set.Root)
	if err != nil {
		return stamp{}, err
	}
	st := stamp{at: here.Ctime, coarse: !exact(space.Type)}
	switch {
	case here.Dev != there.Dev && (space.Network || set.space.Network):
		st.at -= int64(otherMachine)
	case here.Dev != there.Dev || st.coarse || space.Network:
		st.at -= int64(otherClock)
	}
	return st, nil
}

// exact says whether the file system keeps the time of each file's last change.
func exact(name string) bool {
	switch name {
	case "ext4", "xfs", "btrfs", "tmpfs", "overlay", "f2fs", "zfs", "bcachefs", "apfs", "nfs", "ceph":
		return true
	}
	return false
}
