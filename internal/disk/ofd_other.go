//go:build !linux && !darwin

package disk

import (
	"errors"
	"os"
)

// OFDLock takes a lock on a part of f: not on this system.
func OFDLock(*os.File, bool, int64, int64) error { return errors.ErrUnsupported }

// OFDUnlock gives it back.
func OFDUnlock(*os.File, int64, int64) error { return errors.ErrUnsupported }

// OFDTest says whether somebody's lock is in the way.
func OFDTest(*os.File, bool, int64, int64) (bool, error) { return false, errors.ErrUnsupported }
