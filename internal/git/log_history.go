package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Unreachable returns those of the commits that are not in the history of head. Commits that the
// repository no longer has are left out.
func Unreachable(ctx context.Context, r *Repo, head OID, commits []OID) ([]OID, error) {
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

// LastCommits returns the last n commits reachable from rev, newest first.
func LastCommits(ctx context.Context, r *Repo, rev string, n int) ([]Commit, error) {
	if rev == "" || strings.HasPrefix(rev, "-") {
		return nil, fmt.Errorf("log %q: not a revision", rev)
	}
	return revList(ctx, r, "--max-count="+strconv.Itoa(n), rev, "--")
}

// revList reads the commits that git rev-list lists.
func revList(ctx context.Context, r *Repo, args ...string) ([]Commit, error) {
	out, err := r.Run(ctx, append([]string{"rev-list"}, args...)...)
	if err != nil {
		return nil, err
	}
	oids := strings.Fields(string(out))
	commits := make([]Commit, 0, len(oids))
	const few = 100 // are read as fast one by one
	if len(oids) > few {
		many := make([]OID, len(oids))
		for i, oid := range oids {
			many[i] = OID(oid)
		}
		err := r.ReadMany(ctx, many, func(o Object) error {
			c, err := ParseCommit(o)
			if err == nil {
				c.Note, err = r.Notes.Of(ctx, c.OID)
			}
			commits = append(commits, c)
			return err
		})
		if err == nil && len(commits) == len(oids) {
			return commits, nil
		}
		commits = commits[:0] // one can't be read, or is large
	}
	for _, oid := range oids {
		c, err := r.Commit(ctx, oid)
		if err != nil {
			return nil, err
		}
		commits = append(commits, c)
	}
	return commits, nil
}

// MergeBase returns a best common ancestor of two commits, or "" if there is none or a shallow
// history hides it.
func MergeBase(ctx context.Context, r *Repo, a, b OID) (OID, error) {
	out, err := r.Run(ctx, "merge-base", string(a), string(b))
	if exit, ok := errors.AsType[*ExitError](err); ok && exit.Code == 1 {
		return "", nil
	}
	return OID(strings.TrimSuffix(string(out), "\n")), err
}

// Subjects returns the first lines of the messages of the commits reachable from to but not from
// from, newest first; if from is empty, of all commits reachable from to.
func Subjects(ctx context.Context, r *Repo, from, to string) ([]string, error) {
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

// FirstParents returns at most n commits from tip on along the first parents, newest first. It
// stops before a commit that is reachable from one of the commits not.
func FirstParents(ctx context.Context, r *Repo, tip OID, not []OID, n int) ([]Commit, error) {
	args := []string{"--first-parent", "--max-count=" + strconv.Itoa(n), string(tip)}
	for _, oid := range not {
		args = append(args, "^"+string(oid))
	}
	return revList(ctx, r, append(args, "--")...)
}

// MessagesContaining returns, newest first, the messages of those commits reachable from the
// revisions that contain the text in their message or note. A note is appended to its message. The
// revisions may be options of git rev-list such as --all and --reflog.
func MessagesContaining(ctx context.Context, r *Repo, text string, revs ...string) ([]string, error) {
	args := []string{"rev-list", "--fixed-strings", "--grep=" + text, "--format=%x00%B%x00"}
	trees, err := r.Notes.Trees(ctx)
	if err != nil {
		return nil, err
	}
	if trees != (NoteTrees{}) { // rev-list doesn't read notes
		args = append([]string{"log", "--fixed-strings", "--grep=" + text, "--format=%x00%B%n%N%x00"}, trees.logArgs()...)
	}
	out, err := r.Run(ctx, append(append(args, revs...), "--")...)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(string(out), "\x00")
	messages := make([]string, 0, len(parts)/2)
	for i := 1; i < len(parts); i += 2 {
		messages = append(messages, parts[i])
	}
	return messages, nil
}

// OnRemote returns the name of a remote-tracking branch that contains the commit, or "" if there is
// none.
func OnRemote(ctx context.Context, r *Repo, commit OID) (string, error) {
	out, err := r.Run(ctx, "for-each-ref", "--count=1", "--format=%(refname:short)", "--contains="+string(commit), "refs/remotes/")
	if err != nil {
		return "", fmt.Errorf("find out whether %s is pushed: %w", commit.Short(), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// IsPushed reports whether a remote-tracking branch contains the commit. Unlike OnRemote it does
// not walk history older than the commit.
func IsPushed(ctx context.Context, r *Repo, commit OID) (bool, error) {
	out, err := r.Run(ctx, "rev-list", "--max-count=1", string(commit), "--not", "--remotes")
	if err != nil {
		return false, fmt.Errorf("find out whether %s is pushed: %w", commit.Short(), err)
	}
	return len(out) == 0, nil
}
