package capture

import (
	"slices"

	"github.com/seed-3aff656d/entire/bands/tree"
)

// Unheld reports whether a path that is unknown for the reason has a content that
// a snapshot should hold and doesn't, so that nobody knows whether it changed.
func Unheld(why tree.Reason) bool {
	switch why {
	case tree.Socket, tree.Device, tree.FIFO, tree.OtherFileSystem, tree.Excluded, tree.Worktree:
		return false
	case tree.Unreadable, tree.Moving, tree.Budget, tree.Busy, tree.Forgotten:
	default: // of versions to come
	}
	return true
}

// Unheld are the paths whose content the snapshot should hold and doesn't: that
// can't be read, kept changing, or found no room.
func (t *Taken) Unheld() []string { return Merge(t.Unreadable, t.Moving, t.Snapshot.LeftOut) }

// Unheld is Taken.Unheld of a tree as it is now.
func (p *Present) Unheld() []string { return Merge(p.Unreadable, p.Moving, p.LeftOut) }

func Merge(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
