//go:build !linux

package proc

// Openers returns that it is not known who has a file open.
func Openers(...FileID) (pids map[FileID][]int, known bool) { return nil, false }
