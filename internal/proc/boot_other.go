//go:build !linux

package proc

// Boot identifies the time since the system was started; empty where that isn't known.
func Boot() string { return "" }
