package bands

import (
	"errors"
	"os"
	"syscall"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Hardlink gives the band one more name. A file can't have any number of them:
// when there are too many, a copy takes the band's place and goes on from there.
func (h *Held) Hardlink(from, to string) error {
	if err := disk.Step("link", to); err != nil {
		return err
	}
	err := os.Link(from, to)
	if !errors.Is(err, syscall.EMLINK) {
		return err
	}
	fresh := from + TempSuffix
	if err := RemoveFile(fresh); err != nil {
		return err
	}
	if err := disk.CopyFile(from, fresh); err != nil {
		return err
	}
	if err := disk.SyncFiles([]string{fresh}, nil); err != nil {
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
