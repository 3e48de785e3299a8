//go:build !linux

package volume

// driversOf are the drivers of a store in the folder store.
func driversOf(store string, size int64) []Driver {
	return []Driver{Sparsebundle{Store: store, Size: size}}
}

// sweepImages has nothing to do.
func sweepImages(string) error { return nil }

// disappear has nothing to do.
func disappear(string) error { return nil }
