package volume

// driversOf returns the drivers of a store in the folder store, the preferred ones first.
func driversOf(store string, size int64) []Driver {
	return []Driver{Subvolume{}, Pool{Store: store}, Image{Store: store, Size: size}, Sparsebundle{Store: store, Size: size}}
}
