package bands

import (
	"errors"
	"os"
	"time"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Stamp is the time from which on a change of a file may not show in its times.
type Stamp struct {
	At     int64
	Coarse bool // the file system records no change times
}

const (
	// otherClock is the maximum difference between the times of two file systems, and the maximum
	// granularity of a file system's times.
	otherClock = 2 * time.Second
	// otherMachine is the maximum difference if another machine keeps the clock.
	otherMachine = time.Minute
)

// Stamp gets the time from the file system, by writing a file: its clock isn't the process's.
func (s *Store) Stamp(set Settings) (Stamp, error) {
	return StampOf(s.Path(stampFile), set.Root, set.Space.Network)
}

// StampOf returns the present time of the file system of the directory root. It writes the file
// path to get it; network reports whether that file may be on another machine.
func StampOf(path, root string, network bool) (Stamp, error) {
	if err := disk.Step("write", path); err != nil {
		return Stamp{}, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return Stamp{}, err
	}
	var here, there dirfd.Stat
	_, err = f.WriteAt([]byte{'\n'}, 0)
	if err == nil {
		err = dirfd.StatFile(f, &here)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return Stamp{}, err
	}
	dir, err := dirfd.OpenRoot(root)
	if err != nil {
		return Stamp{}, err
	}
	err = dir.Self(&there)
	if err := errors.Join(err, dir.Close()); err != nil {
		return Stamp{}, err
	}
	space, err := disk.SpaceAt(root)
	if err != nil {
		return Stamp{}, err
	}
	st := Stamp{At: here.Ctime}
	switch space.Type {
	case "ext4", "xfs", "btrfs", "tmpfs", "overlay", "f2fs", "zfs", "bcachefs", "apfs", "nfs", "ceph":
	default:
		st.Coarse = true
	}
	switch {
	case here.Dev != there.Dev && (space.Network || network):
		st.At -= int64(otherMachine)
	case here.Dev != there.Dev || st.Coarse || space.Network:
		st.At -= int64(otherClock)
	}
	return st, nil
}
