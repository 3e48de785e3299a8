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
	return ParseSignature(strings.TrimSuffix(string(out), "\n")), nil
}

// MergeBase is a commit that both reach and that is the newest such; empty if
// there is none, or if a shallow history doesn't show it.
func (r *Repo) MergeBase(ctx context.Context, a, b OID) (OID, error) {
	out, err := r.Run(ctx, "merge-base", string(a), string(b))
	if exit, ok := errors.AsType[*ExitError](err); ok && exit.Code == 1 {
		return "", nil
	}
	return OID(strings.TrimSuffix(string(out), "\n")), err
}

// Subjects gives the first lines of the messages of the commits that to
// reaches and from doesn't, newest first; of all that it reaches if from is
// empty.
func (r *Repo) Subjects(ctx context.Context, from, to string) ([]string, error) {
	args := []string{"log", "-z", "--format=%s", "--end-of-options", to}
	if from != "" {
		args = append(args, "^"+from)
	}
	out, err := r.Run(ctx, append(args, "--")...)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}
