//go:build !linux

package proc

// UsersOf returns no processes: the system doesn't report them.
func UsersOf(string) []User { return nil }

// Openers returns false: the system doesn't report open files.
func Openers(...FileID) (pids map[FileID][]int, known bool) { return nil, false }
