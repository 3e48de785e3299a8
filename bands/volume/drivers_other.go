//go:build !linux

package volume

import (
	"context"
	"errors"
)

// driversOf are the drivers of a store in the folder store.
func driversOf(store string, size int64) []Driver {
	return []Driver{Sparsebundle{Store: store, Size: size}}
}

// OpenPool has nothing to do.
func OpenPool(string) error { return nil }

// MakePool can't be: there is no pool.
func MakePool(context.Context, string, int64) error { return errors.ErrUnsupported }

// PoolClosed is false: there is no pool.
func PoolClosed(string) bool { return false }

// ClosePool has nothing to do.
func ClosePool(string) error { return nil }

// sweepImages has nothing to do.
func sweepImages(string) error { return nil }

// disappear has nothing to do.
func disappear(string) error { return nil }
