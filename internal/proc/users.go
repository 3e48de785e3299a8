package proc

// User is a process that uses a directory: as its working directory or by a file open below it.
type User struct {
	PID        int
	Name, Path string
}

// FileID identifies an open file as the kernel does: by device and inode.
type FileID struct{ Dev, Ino uint64 }
