package checkpoint

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
)

// LinkedCommits returns those of the commits that git log lists for args, in its order, that name
// one of the checkpoints in their message or note, or any checkpoint if ids is empty. args may
// select commits by other criteria than their message.
func LinkedCommits(ctx context.Context, repo *git.Repo, ids []ID, args ...string) ([]git.Commit, error) {
	search := make([]string, 0, 1+len(ids)+len(args))
	search = append(search, "--fixed-strings")
	for _, id := range ids {
		search = append(search, "--grep="+string(id))
	}
	if len(ids) == 0 {
		search = append(search, "--grep="+TrailerKey+":")
	}
	commits, err := git.Commits(ctx, repo, append(search, args...)...)
	if err != nil {
		return nil, fmt.Errorf("find commits of checkpoints: %w", err)
	}
	wanted := func(id ID) bool { return len(ids) == 0 || slices.Contains(ids, id) }
	return slices.DeleteFunc(commits, func(c git.Commit) bool { return !slices.ContainsFunc(IDsOf(c), wanted) }), nil
}
