package disk

// Space is what a file system has and is.
type Space struct {
	Total int64 // bytes in all
	Free  int64 // bytes that this user may still write
	// Type is its name as mount(8) has it: "ext4", "xfs", "btrfs", "tmpfs",
	// "nfs", "vfat", "apfs", ...
	Type string
	// Network says that files may change without this system's doing: they
	// are another machine's, or another program's. Times and directories read
	// a moment ago may then not be the present ones.
	Network bool
}
