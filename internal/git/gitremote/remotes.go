package gitremote

import (
	"context"
	"errors"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// List returns the names of the configured remotes in their order.
func List(ctx context.Context, r *git.Repo) ([]string, error) {
	out, err := r.Run(ctx, "remote")
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}

// Head returns the default branch of a remote as recorded when it was cloned, or "" if it is not
// recorded.
func Head(ctx context.Context, r *git.Repo, remote string) (string, error) {
	prefix := "refs/remotes/" + remote + "/"
	out, err := r.Run(ctx, "symbolic-ref", "--quiet", prefix+"HEAD")
	if _, failed := errors.AsType[*git.ExitError](err); failed {
		return "", nil
	}
	branch, _ := strings.CutPrefix(strings.TrimSuffix(string(out), "\n"), prefix)
	return branch, err
}
