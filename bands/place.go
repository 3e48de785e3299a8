package bands

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// place makes the band stand in the folder of a new snapshot. Where the file
// system clones, a band that has not grown since the parent is the parent's
// clone under one more name.
func (h *Held) place(f band.File, dir string, parent Snapshot) error {
	from, to := filepath.Join(h.BandsDir(), f.Name()), filepath.Join(dir, f.Name())
	switch h.Linking() {
	case disk.Hardlink:
		return h.hardlink(from, to)
	case disk.Reflink:
		for _, b := range parent.Bands {
			if b.Number != f.Number || b.Length != f.Length {
				continue
			}
			if err := disk.Step("link", to); err != nil {
				return err
			}
			if os.Link(filepath.Join(h.SnapshotDir(parent.Version), f.Name()), to) == nil {
				return nil
			}
		}
	default: // a copy
	}
	return disk.Place(h.Linking(), from, to)
}

// hardlink gives the band one more name. A file can't have any number of them:
// when there are too many, a copy takes the band's place and goes on from there.
func (h *Held) hardlink(from, to string) error {
	if err := disk.Step("link", to); err != nil {
		return err
	}
	err := os.Link(from, to)
	if !errors.Is(err, syscall.EMLINK) {
		return err
	}
	fresh := from + tempSuffix
	if err := removeFile(fresh); err != nil {
		return err
	}
	if err := disk.CopyFile(from, fresh); err != nil {
		return err
	}
	if err := syncPath(fresh); err != nil {
		return err
	}
	if err := disk.Step("rename", from); err != nil {
		return err
	}
	if err := os.Rename(fresh, from); err != nil {
		return err
	}
	if err := disk.Step("link", to); err != nil {
		return err
	}
	return os.Link(from, to)
}

// syncPath waits until a file or a directory is on the disk.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, syscall.EINVAL) {
		err = nil // not every file system syncs directories
	}
	return errors.Join(err, f.Close())
}
