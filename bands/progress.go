package bands

// Progress is how far a snapshot, a restore or an export is.
type Progress struct {
	// Stage is "capture" while a tree is read, "restore" while one is written, and what a
	// caller adds to these.
	Stage string
	// Done and Total count entries; Total is 0 where it isn't known.
	Done, Total int64
	// Bytes and Size are the lengths of files that were read or written, and of all that
	// will be; Size is about right, and 0 where it isn't known.
	Bytes, Size int64
}
