package app

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// StoreHint returns a hint on what the user can do about an error of a snapshot store, "" for other
// errors. program is the command line prefix of the store's commands.
func StoreHint(err error, program string) string {
	switch {
	case errors.Is(err, bands.ErrDamaged), errors.Is(err, band.ErrDamaged):
		return fmt.Sprintf("`%s verify` lists what is damaged; everything else can be restored", program)
	case errors.Is(err, bands.ErrNoRoom), errors.Is(err, syscall.ENOSPC):
		return fmt.Sprintf("free disk space, or run `%s prune`", program)
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only"
	}
	return ""
}

// BandsOffHint is the hint of commands that need snapshots, in a repository where the settings
// disable them.
const BandsOffHint = "snapshots are off in this repository; `entire config bands.enabled true` turns them on"
