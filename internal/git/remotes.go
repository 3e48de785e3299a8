package git

import (
	"context"
	"errors"
	"strings"
)

// Remotes returns the names of the configured remotes in their order.
func Remotes(ctx context.Context, r *Repo) ([]string, error) {
	out, err := r.Run(ctx, "remote")
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}

// RemoteHead returns the default branch of a remote as recorded when it was cloned, or "" if it is
// not recorded.
func RemoteHead(ctx context.Context, r *Repo, remote string) (string, error) {
	prefix := "refs/remotes/" + remote + "/"
	out, err := r.Run(ctx, "symbolic-ref", "--quiet", prefix+"HEAD")
	if _, failed := errors.AsType[*ExitError](err); failed {
		return "", nil
	}
	branch, _ := strings.CutPrefix(strings.TrimSuffix(string(out), "\n"), prefix)
	return branch, err
}
