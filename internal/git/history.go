package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// IsAncestor tells if commit a is b or an ancestor of b.
func (r *Repo) IsAncestor(ctx context.Context, a, b OID) (bool, error) {
	if !r.Format.Valid(a) || !r.Format.Valid(b) {
		return false, fmt.Errorf("%q, %q: no object ids", a, b)
	}
	_, err := r.Run(ctx, "merge-base", "--is-ancestor", string(a), string(b))
	if exit, ok := errors.AsType[*ExitError](err); ok && exit.Code == 1 {
		return false, nil
	}
	return err == nil, err
}

// Log gives the last n commits that rev reaches, newest first.
func (r *Repo) Log(ctx context.Context, rev string, n int) ([]Commit, error) {
	if rev == "" || strings.HasPrefix(rev, "-") {
		return nil, fmt.Errorf("log %q: not a revision", rev)
	}
	out, err := r.Run(ctx, "rev-list", "--max-count="+strconv.Itoa(n), rev, "--")
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
