package strategy

import (
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/commits"
)

// At returns the recorder of the worktree at root, whose Repo the caller closes.
func (r *Recorder) At(root string) (*Recorder, error) {
	repo, err := git.Discover(git.Locate{Dir: root, Getenv: r.Env.Getenv})
	if err != nil {
		return nil, err
	}
	if repo.CommonDir != r.Repo.CommonDir || repo.Root == "" {
		return nil, errors.Join(fmt.Errorf("%s: %w", root, commits.ErrElsewhere), repo.Close())
	}
	return New(r.Workspace.At(repo)), nil
}
