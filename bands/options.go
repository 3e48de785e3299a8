package bands

import (
	"context"
	"time"
)

// PlainLineage is the lineage of a store that has one tree only: the first six
// digits of the SHA-256 of nothing.
const PlainLineage = "e3b0c4"

// Options say which tree is captured, and how.
type Options struct {
	// Root is the tree's absolute path, Lineage its six hex digits.
	Root, Lineage string
	// Cap is how many bytes the store may have, Floor how many must stay free on
	// its file system; 0 is the default, see DefaultCap and DefaultFloor.
	Cap, Floor int64
	// Exclude are patterns of paths that are left out. A pattern without a slash
	// is about names at any depth, any other about paths from the root; one that
	// ends in a slash only about directories; ** is any number of directories.
	Exclude []string
	// Hidden are paths from the root that are neither captured nor unknown. The
	// store itself is always hidden.
	Hidden []string
	// Worktrees are absolute paths of linked worktrees, which aren't entered.
	Worktrees []string
	// Ignored answers which of the directories, paths from the root, git ignores.
	// It is asked when the tree doesn't fit the cap; nil: none are.
	Ignored func(ctx context.Context, dirs []string) ([]string, error)
	// Now is the clock, Home the user's home directory ("" if there is none).
	Now  func() time.Time
	Home string
	// Workers is how many directories are read at once; 0: as many as processors,
	// at least 2.
	Workers int
}

// TakeOptions say what a snapshot is taken for.
type TakeOptions struct {
	Options
	Message   string
	Cause     Cause
	Causality Causality
	// SkipUnchanged takes no snapshot if nothing differs from the parent.
	SkipUnchanged bool
	// Late marks the snapshot so.
	Late bool
	// Force ignores floor and cap: for snapshots that the user asked for, and rescues.
	Force bool
	// MostFiles and MostBytes are how much may have to be read, 0 for any amount;
	// beyond that the error is ErrTooMuch. For snapshots that somebody waits for.
	MostFiles, MostBytes int64
	// Progress is told how many entries of how many have been read; of 0 where
	// that isn't known. nil: nobody is.
	Progress func(done, total int64)
	// Beside runs beside the waits for the disk, with the snapshot, which has no
	// version yet and may not come to be; its records can be read. Take returns
	// after it. It isn't called if the tree is unchanged. nil: nothing runs.
	Beside func(Snapshot)
}

// Taken is what taking a snapshot did.
type Taken struct {
	// Snapshot is the new one; the parent if it is Unchanged.
	Snapshot  Snapshot
	Unchanged bool
	// Changes is how many paths differ from the parent: 0 of a first snapshot.
	Changes int
	// Entries is how many paths the walk saw, Walk how long it took, what it
	// read included.
	Entries int64
	Walk    time.Duration
	// Moving are files that changed during each attempt to read them, and
	// databases that could not be read at one point in time: they are unknown.
	Moving []string
	// Unreadable are paths that could not be read.
	Unreadable []string
}
