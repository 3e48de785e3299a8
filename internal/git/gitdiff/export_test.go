package gitdiff

import (
	"context"

	"github.com/seed-3aff656d/entire/internal/git"
)

// DiffTree is Changes as computed by git.
func DiffTree(ctx context.Context, r *git.Repo, from, to git.OID) ([]Change, error) {
	return diffTree(ctx, r, string(from), string(to))
}
