//go:build !linux

package restore

// spreads returns false: no file system here has the flag.
func spreads(string) bool { return false }
