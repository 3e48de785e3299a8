package app

import (
	"context"
	"fmt"

	"github.com/seed-3aff656d/entire/internal/git"
)

// WarnOperation warns of a merge, rebase or similar operation in progress, before the named command
// changes files: the state of the operation in .git and in the index stays.
func (a *App) WarnOperation(ctx context.Context, repo *git.Repo, command string) error {
	op, err := git.OperationInProgress(ctx, repo)
	if err != nil {
		return fmt.Errorf("read the operation in progress: %w", err)
	}
	if name := op.Name(); name != "" {
		a.Streams.Notef("warning: a %s is in progress: a %s only changes files, not HEAD, the index or the state of the %s", name, command, name)
	}
	return nil
}
