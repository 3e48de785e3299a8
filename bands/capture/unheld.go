package capture

import (
	"slices"
)

// Unheld are the paths whose content the snapshot should hold and doesn't: that
// can't be read, kept changing, or found no room.
func (t *Taken) Unheld() []string { return union(t.Unreadable, t.Moving, t.Snapshot.LeftOut) }

// Unheld is Taken.Unheld of a tree as it is now.
func (p *Present) Unheld() []string { return union(p.Unreadable, p.Moving, p.LeftOut) }

// union returns the paths of all lists, sorted, each once.
func union(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
