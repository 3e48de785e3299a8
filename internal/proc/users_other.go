//go:build !linux

package proc

// UsersOf returns no processes: the system doesn't report them.
func UsersOf(string) []User { return nil }
