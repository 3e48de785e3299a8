//go:build !linux

package volume

import (
	"context"
	"errors"
)

// driversOf returns the drivers of a store in the folder store.
func driversOf(store string, size int64) []Driver {
	return []Driver{Sparsebundle{Store: store, Size: size}}
}

// OpenPool does nothing.
func OpenPool(string) error { return nil }

// MakePool returns errors.ErrUnsupported.
func MakePool(context.Context, string, int64) error { return errors.ErrUnsupported }

// PoolClosed returns false: there is no pool.
func PoolClosed(string) bool { return false }

// ClosePool does nothing.
func ClosePool(string) error { return nil }

// sweepImages does nothing.
func sweepImages(string) error { return nil }

// disappear does nothing.
func disappear(string) error { return nil }
