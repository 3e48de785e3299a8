package proc

// FileID names an open file as the kernel does: by device and inode.
type FileID struct{ Dev, Ino uint64 }
