package capture

import (
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
)

// TakeOptions describe a snapshot to take.
type TakeOptions struct {
	bands.Options
	Message   string
	Cause     bands.Cause
	Causality bands.Causality
	// SkipUnchanged takes no snapshot if nothing differs from the parent.
	SkipUnchanged bool
	// Late is recorded in the snapshot.
	Late bool
	// Force ignores floor and cap: for snapshots requested by the user, and rescues.
	Force bool
	// MostFiles and MostBytes limit how much is read, 0 for no limit; beyond them the error is
	// ErrTooMuch. For snapshots that a user waits for.
	MostFiles, MostBytes int64
	// Progress is called with the progress of the walk, unless it is nil.
	Progress func(bands.Progress)
	// Beside runs during the waits for the disk. Its snapshot has no version yet and may never be
	// completed; its records can be read. Take waits for it. It isn't called if the tree is
	// unchanged. nil: nothing runs.
	Beside func(bands.Snapshot)
}

// Taken is the result of Take.
type Taken struct {
	// Snapshot is the new one; the parent if it is Unchanged.
	Snapshot  bands.Snapshot
	Unchanged bool
	// Changes is the number of paths that differ from the parent; 0 for a first snapshot.
	Changes int
	// Entries is the number of paths that the walk visited, or knows to be unchanged. Walk is its
	// duration, with the reading of files.
	Entries int64
	Walk    time.Duration
	// Moving are files that changed during each attempt to read them, and
	// databases that could not be read at one point in time: they are unknown.
	Moving []string
	// Unreadable are paths that could not be read.
	Unreadable []string
}

// Unheld returns the paths whose content should be in the snapshot and isn't: they can't be read,
// kept changing, or had no room.
func (t *Taken) Unheld() []string { return union(t.Unreadable, t.Moving, t.Snapshot.LeftOut) }

// union returns the paths of all lists, sorted, each once.
func union(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
