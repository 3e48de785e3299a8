package gitref

import (
	"github.com/seed-3aff656d/entire/internal/git"
)

// BreakLock is breakLock with the age of an abandoned lock of a ref.
func BreakLock(r *git.Repo, lock string) bool { return breakLock(r, lock, abandoned) }
