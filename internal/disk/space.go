package disk

// Space is the size and the kind of a file system.
type Space struct {
	Total int64 // bytes in all
	Free  int64 // bytes that this user may still write
	// Type is its name as mount(8) has it: "ext4", "xfs", "btrfs", "tmpfs",
	// "nfs", "vfat", "apfs", ...
	Type string
	// Network reports that files may change without this system's doing: they
	// belong to another machine or another program. Times and directories read
	// a moment ago may then not be the present ones.
	Network bool
}
