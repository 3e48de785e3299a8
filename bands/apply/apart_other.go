//go:build !linux

package apply

// spreads reports that no file system here has the flag for it.
func spreads(string) bool { return false }
