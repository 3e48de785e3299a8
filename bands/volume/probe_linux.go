package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/loopfs"
)

// Missing makes a small image below dir, clones it, mounts it beside root, freezes it and
// removes it.
func (d Image) Missing(root, dir string) error {
	for _, program := range []string{"mkfs.ext4", "e2fsck", "fsfreeze"} {
		if _, err := programPath(program); err != nil {
			return fmt.Errorf("%s isn't installed", program)
		}
	}
	beside, below, err := probeFolders(root, dir)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(beside) }() // empty, unless a step below failed
	isMounted := false
	defer func() {
		if !isMounted { // else SweepProbes finds the mount by the file
			_ = os.RemoveAll(below)
		}
	}()
	const probeSize = 16 << 20
	image, copied := filepath.Join(below, "image"), filepath.Join(below, probeCopy)
	if err := makeImage(image, probeSize, os.Geteuid(), os.Getegid()); err != nil {
		return err
	}
	if err := cloneImage(image, copied); err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			return fmt.Errorf("%s is on a file system without reflinks", dir)
		}
		return err
	}
	mounted, err := loopfs.Open(copied, imageKind, loopfs.ReadWrite)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("mounting needs root: %w", err)
	}
	if err != nil {
		return err
	}
	err = mounted.Replace(beside)
	if err == nil {
		err = errors.Join(loopfs.Freeze(beside), loopfs.Thaw(beside), loopfs.Unmount(beside, true))
		isMounted = err != nil
	}
	return errors.Join(err, mounted.Close())
}

// probeCopy is the image that a probe mounts.
const probeCopy = "copy"

// sweepImages unmounts and removes the leftovers of probes of images in a folder.
func sweepImages(dir string) error {
	var failed []error
	for _, path := range disk.Glob(dir, probePrefix+"*", probeCopy) {
		file, err := loopfs.FileID(path)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		places, err := loopfs.Places(file)
		failed = append(failed, err)
		for _, at := range places {
			_ = loopfs.Thaw(at) // the probe was killed in between, or it wasn't frozen
			failed = append(failed, loopfs.Unmount(at, true))
			_ = os.Remove(at) // only if it is empty
		}
		if err := disk.Step("remove", path); err == nil {
			failed = append(failed, os.RemoveAll(filepath.Dir(path)))
		}
	}
	return errors.Join(failed...)
}
