//go:build !linux && !darwin

package disk

import (
	"errors"
	"os"
)

// SpaceAt tells of the file system that holds the directory dir: not here.
func SpaceAt(dir string) (Space, error) {
	return Space{}, &os.PathError{Op: "statfs", Path: dir, Err: errors.ErrUnsupported}
}
