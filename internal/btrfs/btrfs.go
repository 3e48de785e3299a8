// Package btrfs makes, copies and removes subvolumes of Btrfs by the kernel's ioctls, without
// starting a program. Diverged, Touched and Resize need root; ordinary users may call the other
// functions for their own subvolumes. On other file systems they return ErrNotBtrfs.
package btrfs

import (
	"errors"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Errors of this package.
var (
	// ErrNotBtrfs means that a path isn't on Btrfs.
	ErrNotBtrfs = errors.New("not on Btrfs")
	// ErrTooMany means that more files have changed than the caller allows.
	ErrTooMany = errors.New("too much has changed")
)

// Info describes a subvolume.
type Info struct {
	// UUID distinguishes it from all other subvolumes, its snapshots included.
	UUID string
	// Generation is the transaction of its last change, Created the one in which it was made.
	Generation, Created uint64
}

// Mode is the access mode of a subvolume.
type Mode uint64

// The modes.
const (
	Writable Mode = 0
	ReadOnly Mode = 1 << 1
)

// RemoveTree removes a subvolume in one step, and any other directory as disk.RemoveTree does.
func RemoveTree(dir string, removed func()) error {
	if IsSubvolume(dir) {
		return Remove(dir)
	}
	return disk.RemoveTree(dir, removed)
}
