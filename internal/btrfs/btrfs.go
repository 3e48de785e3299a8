// Package btrfs makes, copies and removes subvolumes of Btrfs by the kernel's ioctls:
// no program is started, and an ordinary user may call all of them for what is the
// user's own. On other systems and file systems each is ErrNotBtrfs.
package btrfs

import (
	"errors"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Errors of this package.
var (
	// ErrNotBtrfs means that a path isn't on Btrfs.
	ErrNotBtrfs = errors.New("not on Btrfs")
	// ErrTooMany means that more has changed than the caller wants to know.
	ErrTooMany = errors.New("too much has changed")
)

// Info describes a subvolume.
type Info struct {
	// UUID distinguishes it from all others, and is another one in each snapshot.
	UUID string
	// Generation is the transaction of its last change, Created that in which it was made.
	Generation, Created uint64
}

// Mode is whether a snapshot can be written to.
type Mode uint64

// The modes.
const (
	Writable Mode = 0
	ReadOnly Mode = 1 << 1
)

// RemoveTree is disk.RemoveTree, of a subvolume at once.
func RemoveTree(dir string, removed func()) error {
	if IsSubvolume(dir) {
		return Remove(dir)
	}
	return disk.RemoveTree(dir, removed)
}
