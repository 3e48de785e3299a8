package bands

import (
	"context"
	"time"
)

// PlainLineage is the lineage of a store with a single tree: the first six digits of the SHA-256
// of empty input.
const PlainLineage = "e3b0c4"

// DefaultAskFrom is the number of files from which asking the file system costs less than a walk.
const DefaultAskFrom = 10_000

// Options determine the captured tree and how it is captured.
type Options struct {
	// Root is the tree's absolute path, Lineage its six hex digits.
	Root, Lineage string
	// Cap is the maximum size of the store in bytes, Floor the minimum free space of its file
	// system; 0 is the default, see DefaultCap and DefaultFloor.
	Cap, Floor int64
	// Exclude are patterns of paths that are left out. A pattern without a slash matches names at
	// any depth, any other matches paths from the root. One that ends in a slash matches only
	// directories; ** matches any number of directories.
	Exclude []string
	// Only are the paths from the root that are captured, with the directories above them; all
	// others are left out. If it is empty the whole tree is captured.
	Only Paths
	// Forgotten are paths from the root of forgotten files. They are left out with a reason of
	// their own.
	Forgotten []string
	// Refuse is the reason why no snapshot may be taken; nil permits snapshots.
	Refuse error
	// Hidden are paths from the root that are neither captured nor unknown. The store itself is
	// always hidden.
	Hidden []string
	// Worktrees are the absolute paths of linked worktrees, which aren't entered.
	Worktrees []string
	// Ignored returns those of the directories, paths from the root, that git ignores. It is
	// called if the tree exceeds the cap; nil means that git ignores none.
	Ignored func(ctx context.Context, dirs []string) ([]string, error)
	// AskFrom is the minimum number of files and directories for which the file system is asked
	// what has changed, if it records that; 0: DefaultAskFrom. Asking has a cost of its own.
	AskFrom int64
	// Now returns the time; Home is the user's home directory ("" if there is none).
	Now  func() time.Time
	Home string
	// Workers is the number of directories read at once; 0: the number of processors, at least 2.
	Workers int
}

// Progress is the progress of a snapshot, a restore or an export.
type Progress struct {
	// Stage is "capture" while a tree is read, "restore" while one is written, or a value that
	// the caller adds.
	Stage string
	// Done and Total count entries; Total is 0 if it isn't known.
	Done, Total int64
	// Bytes is the length of the files read or written so far, Size that of all files; Size is an
	// estimate, and 0 if it isn't known.
	Bytes, Size int64
}
