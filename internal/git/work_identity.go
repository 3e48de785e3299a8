package git

import (
	"context"
	"errors"
	"strings"
)

// committerVar is git's variable for the committer.
const committerVar = "GIT_COMMITTER_IDENT"

// UnknownEmail is the address that Identity returns if none is configured.
const UnknownEmail = "unknown@local"

// Identity returns the committer that git would use now, or "Unknown <unknown@local>" without a
// time if none is configured.
func Identity(ctx context.Context, r *Repo) (Signature, error) {
	vars, unread := r.Config.Variables(ctx)
	given := func(env, key string) bool {
		if value, found := r.Config.LookupEnv(env); found {
			return value != ""
		}
		return lastValue(vars["committer."+key]) != "" || lastValue(vars["user."+key]) != ""
	}
	// Unless the user has configured both a name and an address, the variables contain git's guess,
	// even if git would refuse to commit with it.
	idents := vars[committerVar]
	if unread == nil && len(idents) == 1 && given("GIT_COMMITTER_NAME", "name") && given("GIT_COMMITTER_EMAIL", "email") {
		if by := ParseSignature(idents[0]); by.Name != "" {
			return by, nil
		}
	}
	out, err := r.Run(ctx, "var", committerVar)
	if _, ok := errors.AsType[*ExitError](err); ok {
		return Signature{Name: "Unknown", Email: UnknownEmail}, nil
	}
	if err != nil {
		return Signature{}, err
	}
	return ParseSignature(strings.TrimSuffix(string(out), "\n")), nil
}

// lastValue returns the last value of a setting, which is the effective one.
func lastValue(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}
