//go:build !linux

package sqlite

func stampClock() int64 { return 0 }

// settled trusts stamps of nanoseconds.
func settled(_, _ int64) bool { return true }
