package gitwork

import (
	"context"
	"errors"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Identity is the committer that git would use now, or "Unknown
// <unknown@local>" without a time if none is configured.
func Identity(ctx context.Context, r *git.Repo) (git.Signature, error) {
	out, err := r.Run(ctx, "var", "GIT_COMMITTER_IDENT")
	if _, ok := errors.AsType[*git.ExitError](err); ok {
		return git.Signature{Name: "Unknown", Email: "unknown@local"}, nil
	}
	if err != nil {
		return git.Signature{}, err
	}
	return git.ParseSignature(strings.TrimSuffix(string(out), "\n")), nil
}
