package app

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// StoreHint is what a person can do where a store of snapshots fails, "" if nothing is
// known of the error. program is what is typed for the store's commands.
func StoreHint(err error, program string) string {
	switch {
	case errors.Is(err, bands.ErrDamaged), errors.Is(err, band.ErrDamaged):
		return fmt.Sprintf("`%s verify` names what is damaged; everything else can be restored", program)
	case errors.Is(err, bands.ErrNoRoom), errors.Is(err, syscall.ENOSPC):
		return fmt.Sprintf("make room on the disk, or with `%s prune`", program)
	case errors.Is(err, syscall.EROFS):
		return "the file system is read-only"
	}
	return ""
}

// BandsOffHint helps where a command needs snapshots and the settings of the repository have
// them off.
const BandsOffHint = "snapshots are off in this repository; `entire config set bands.enabled true` turns them on"
