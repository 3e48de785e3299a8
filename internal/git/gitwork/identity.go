package gitwork

import (
	"context"
	"errors"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// committerVar is git's variable for the committer.
const committerVar = "GIT_COMMITTER_IDENT"

// Identity is the committer that git would use now, or "Unknown
// <unknown@local>" without a time if none is configured.
func Identity(ctx context.Context, r *git.Repo) (git.Signature, error) {
	if vars, err := r.Config.Variables(ctx); err == nil {
		if by, ok := configuredCommitter(r, vars); ok {
			return by, nil
		}
	}
	out, err := r.Run(ctx, "var", committerVar)
	if _, ok := errors.AsType[*git.ExitError](err); ok {
		return git.Signature{Name: "Unknown", Email: "unknown@local"}, nil
	}
	if err != nil {
		return git.Signature{}, err
	}
	return git.ParseSignature(strings.TrimSuffix(string(out), "\n")), nil
}

// configuredCommitter returns the committer among git's variables if the user has named
// both a name and an address. Where one is missing the variables have what git guesses,
// also if git would refuse to commit with it.
func configuredCommitter(r *git.Repo, vars map[string][]string) (git.Signature, bool) {
	given := func(env, key string) bool {
		if value, found := r.Config.LookupEnv(env); found {
			return value != ""
		}
		return lastOf(vars["committer."+key]) != "" || lastOf(vars["user."+key]) != ""
	}
	idents := vars[committerVar]
	if len(idents) != 1 || !given("GIT_COMMITTER_NAME", "name") || !given("GIT_COMMITTER_EMAIL", "email") {
		return git.Signature{}, false
	}
	by := git.ParseSignature(idents[0])
	return by, by.Name != ""
}

// lastOf returns the last of the values of a setting, which is the one that counts.
func lastOf(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}
