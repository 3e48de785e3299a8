package bands

import (
	"context"
	"time"
)

// PlainLineage is the lineage of a store that has one tree only: the first six
// digits of the SHA-256 of nothing.
const PlainLineage = "e3b0c4"

// DefaultAskFrom is the number of files from which on asking costs less than a walk.
const DefaultAskFrom = 10_000

// Options determine which tree is captured, and how.
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
	// Only are the paths from the root that are captured, with the directories above
	// them; whatever else is there is left out. None: the whole tree.
	Only Paths
	// Forgotten are paths from the root, of files that were forgotten. They are left out
	// with a reason of their own.
	Forgotten []string
	// Refuse is why no snapshot may be taken; nil: one may.
	Refuse error
	// Hidden are paths from the root that are neither captured nor unknown. The
	// store itself is always hidden.
	Hidden []string
	// Worktrees are absolute paths of linked worktrees, which aren't entered.
	Worktrees []string
	// Ignored returns which of the directories, paths from the root, git ignores.
	// It is asked when the tree doesn't fit the cap; nil: none are.
	Ignored func(ctx context.Context, dirs []string) ([]string, error)
	// AskFrom is how many files and directories a tree has at least for the file system to be asked
	// what has changed, where it knows; 0: DefaultAskFrom. Asking has a cost of its own.
	AskFrom int64
	// Now is the clock, Home the user's home directory ("" if there is none).
	Now  func() time.Time
	Home string
	// Workers is how many directories are read at once; 0: as many as processors,
	// at least 2.
	Workers int
}

// Progress is how far a snapshot, a restore or an export is.
type Progress struct {
	// Stage is "capture" while a tree is read, "restore" while one is written, and what a
	// caller adds to these.
	Stage string
	// Done and Total count entries; Total is 0 where it isn't known.
	Done, Total int64
	// Bytes and Size are the lengths of files that were read or written, and of all that
	// will be; Size is about right, and 0 where it isn't known.
	Bytes, Size int64
}
