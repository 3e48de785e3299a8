//go:build !linux

package volume

// driversOf are the drivers of a store in the folder store.
func driversOf(string, int64) []Driver { return []Driver{Subvolume{}} }

// SweepProbes has nothing to do.
func SweepProbes(string) error { return nil }

// disappear has nothing to do.
func disappear(string) error { return nil }
