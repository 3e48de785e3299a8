package capture

import (
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
)

// TakeOptions are what a snapshot is taken for.
type TakeOptions struct {
	bands.Options
	Message   string
	Cause     bands.Cause
	Causality bands.Causality
	// SkipUnchanged takes no snapshot if nothing differs from the parent.
	SkipUnchanged bool
	// Late marks the snapshot so.
	Late bool
	// Force ignores floor and cap: for snapshots that the user asked for, and rescues.
	Force bool
	// MostFiles and MostBytes are how much may have to be read, 0 for any amount;
	// beyond that the error is ErrTooMuch. For snapshots that a user waits for.
	MostFiles, MostBytes int64
	// Progress is called with how far the reading is, unless it is nil.
	Progress func(bands.Progress)
	// Beside runs beside the waits for the disk, with the snapshot, which has no
	// version yet and may not come to be; its records can be read. Take returns
	// after it. It isn't called if the tree is unchanged. nil: nothing runs.
	Beside func(bands.Snapshot)
}

// Taken is what taking a snapshot did.
type Taken struct {
	// Snapshot is the new one; the parent if it is Unchanged.
	Snapshot  bands.Snapshot
	Unchanged bool
	// Changes is how many paths differ from the parent: 0 of a first snapshot.
	Changes int
	// Entries is how many paths the walk saw, or is sure of, Walk how long it took, what it
	// read included.
	Entries int64
	Walk    time.Duration
	// Moving are files that changed during each attempt to read them, and
	// databases that could not be read at one point in time: they are unknown.
	Moving []string
	// Unreadable are paths that could not be read.
	Unreadable []string
}

// Unheld are the paths whose content the snapshot should hold and doesn't: that
// can't be read, kept changing, or found no room.
func (t *Taken) Unheld() []string { return union(t.Unreadable, t.Moving, t.Snapshot.LeftOut) }

// union returns the paths of all lists, sorted, each once.
func union(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
