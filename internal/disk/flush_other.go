//go:build !linux

package disk

import (
	"errors"
	"os"
)

// StartWriting does nothing: the system begins when it likes.
func StartWriting(*os.File) {}

// Unwritten reports that it isn't known how much waits to be written.
func Unwritten() int64 { return -1 }

// Duplicate is not needed where everything is synced at once.
func (d *DirFD) Duplicate() (*os.File, error) { return nil, d.fail("open", ".", errors.ErrUnsupported) }
