package disk

// Extent is a stretch of a file that takes room on the disk.
type Extent struct {
	// Place is where on the disk it is; 0 if it has no place of its own.
	Place  uint64
	Length int64
	// Shared reports whether other files have it, too.
	Shared bool
}
