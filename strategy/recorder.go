// Package strategy defines the order of the steps at each event of an agent and of git, and
// gives hooks and commands access to the services of the packages below it. See
// docs/architecture.md.
package strategy

import (
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// At returns the recorder of the worktree at root, whose Repo the caller closes.
func At(w *workspace.Workspace, root string) (*workspace.Workspace, error) {
	repo, err := git.Discover(git.Locate{Dir: root, Getenv: w.Env.Getenv})
	if err != nil {
		return nil, err
	}
	if repo.CommonDir != w.Repo.CommonDir || repo.Root == "" {
		return nil, errors.Join(fmt.Errorf("%s: %w", root, record.ErrElsewhere), repo.Close())
	}
	there := w.At(repo)
	return there, nil
}
