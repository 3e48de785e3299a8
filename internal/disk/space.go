package disk

// Space is the size and the kind of a file system.
type Space struct {
	Total int64 // total bytes
	Free  int64 // bytes available to this user
	// Type is its name as used by mount(8): "ext4", "xfs", "btrfs", "tmpfs", "nfs", "vfat", "apfs",
	// ...
	Type string
	// Network reports that files may change independently of this system: they belong to another
	// machine or program. Times and directory listings may be out of date a moment after they were
	// read.
	Network bool
}
