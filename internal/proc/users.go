package proc

// User is a process that uses a folder: it works in it, or has a file below it open.
type User struct {
	PID        int
	Name, Path string
}

// FileID names an open file as the kernel does: by device and inode.
type FileID struct{ Dev, Ino uint64 }
