//go:build !linux

package volume

// driversOf are the drivers of a store in the folder store.
func driversOf(string, int64) []Driver { return []Driver{Subvolume{}} }

// disappear has nothing to do.
func disappear(string) error { return nil }
