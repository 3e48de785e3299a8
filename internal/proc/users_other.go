//go:build !linux

package proc

// UsersOf returns no processes: the system doesn't report them.
func UsersOf(string) []User { return nil }

// Openers returns that it is not known who has a file open.
func Openers(...FileID) (pids map[FileID][]int, known bool) { return nil, false }
