// Package loopfs mounts file systems that are in files, by system calls and without starting a
// program, and freezes them. A detached mount ends with the process. The functions exist on
// Linux only. Those that mount, unmount, freeze or resize need the right to mount.
package loopfs

// Mount is a mounted file system that is in a file.
type Mount struct {
	// Device is the loop device, such as /dev/loop3.
	Device string
	// File identifies the file even after renames: see FileID.
	File string
}

// Access is the access mode of a mount.
type Access int

// The kinds of access.
const (
	ReadWrite Access = iota
	ReadOnly
)
