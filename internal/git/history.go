package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Outside answers which of the commits are not in the history of head. Those
// that the repository no longer has are left out.
func (r *Repo) Outside(ctx context.Context, head OID, commits []OID) ([]OID, error) {
	args := []string{"rev-list", "--ignore-missing"}
	for _, c := range append(slices.Clone(commits), head) {
		if !r.Format.Valid(c) {
			return nil, fmt.Errorf("%q: %w", c, ErrMissing)
		}
	}
	for _, c := range commits {
		args = append(args, string(c))
	}
	out, err := r.Run(ctx, append(args, "^"+string(head))...)
	if err != nil {
		return nil, err
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		listed[strings.TrimSpace(line)] = true
	}
	return slices.DeleteFunc(slices.Clone(commits), func(c OID) bool { return !listed[string(c)] }), nil
}

// Log gives the last n commits that rev reaches, newest first.
func (r *Repo) Log(ctx context.Context, rev string, n int) ([]Commit, error) {
	if rev == "" || strings.HasPrefix(rev, "-") {
		return nil, fmt.Errorf("log %q: not a revision", rev)
	}
	return r.revList(ctx, "--max-count="+strconv.Itoa(n), rev, "--")
}

// revList reads the commits that git lists.
func (r *Repo) revList(ctx context.Context, args ...string) ([]Commit, error) {
	out, err := r.Run(ctx, append([]string{"rev-list"}, args...)...)
	if err != nil {
		return nil, err
	}
	var commits []Commit
	for line := range strings.Lines(string(out)) {
		c, err := r.Commit(ctx, strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		commits = append(commits, c)
	}
	return commits, nil
}

// Identity is the committer that git would use now, or "Unknown
// <unknown@local>" without a time if none is configured.
func (r *Repo) Identity(ctx context.Context) (Signature, error) {
	out, err := r.Run(ctx, "var", "GIT_COMMITTER_IDENT")
	if _, ok := errors.AsType[*ExitError](err); ok {
		return Signature{Name: "Unknown", Email: "unknown@local"}, nil
	}
	if err != nil {
		return Signature{}, err
	}
	return parseSignature(strings.TrimSuffix(string(out), "\n")), nil
}

// Push sends one refspec to a remote's name or URL, without hooks and without
// asking. Only it and Fetch may use the network.
func (r *Repo) Push(ctx context.Context, remote, refspec string) error {
	_, err := r.run(ctx, request{network: true, args: []string{
		"push", "--quiet", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--", remote, refspec,
	}})
	return err
}

// Fetch gets one refspec from a remote's name or URL, without tags and without
// asking.
func (r *Repo) Fetch(ctx context.Context, remote, refspec string) error {
	_, err := r.run(ctx, request{network: true, args: []string{
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--", remote, refspec,
	}})
	return err
}
