//go:build !linux && !darwin

package disk

import (
	"errors"
	"io/fs"
	"os"
)

const seekData, seekHole = -1, -1

// Clone makes the content of dst that of src: not on this system.
func Clone(dst, _ *os.File) error {
	return &fs.PathError{Op: "clone", Path: dst.Name(), Err: errors.ErrUnsupported}
}

// CloneRange is Clone for a part of src: not on this system.
func CloneRange(dst *os.File, _ int64, _ *os.File, _, _ int64) error {
	return &fs.PathError{Op: "clone", Path: dst.Name(), Err: errors.ErrUnsupported}
}

func cloneFile(*os.File, string) error { return errors.ErrUnsupported }

// PunchHole makes n bytes of f at off a hole: not on this system.
func PunchHole(f *os.File, _, _ int64) error {
	return &fs.PathError{Op: "punch hole", Path: f.Name(), Err: errors.ErrUnsupported}
}

// Sync waits until all is on the disk: this system has no call for it.
func Sync(string) error { return nil }

// StartWriteback does nothing: not on this system.
func StartWriteback(*os.File) {}
