// Package loopfs mounts file systems that are in files, by the kernel's calls, and freezes
// them: no program is started for that, and what is mounted for reading goes with the
// process. On other systems than Linux each is errors.ErrUnsupported. All but Find, Places and
// At need the right to mount.
package loopfs

// Mount is a file system that is in a file and is mounted.
type Mount struct {
	// Device is the loop device, such as /dev/loop3.
	Device string
	// File identifies the file, wherever it is moved: FileID.
	File string
}

// Access is whether a mount can be written to.
type Access int

// The kinds of access.
const (
	ReadWrite Access = iota
	ReadOnly
)
