//go:build !linux

package proc

// Boot returns "": the current boot isn't known.
func Boot() string { return "" }
