package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitlog"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
)

// mostCommits is how many commits of a branch are read.
const mostCommits = 500

// branchCommits are the commits of the branch that is checked out, the newest
// first: on the default branch all that are in it, else the branch's own, which
// end where the default branch's line of first parents begins.
func (r Reader) branchCommits(ctx context.Context, branch string) ([]git.Commit, error) {
	head, err := r.Repo.Commit(ctx, "HEAD")
	if errors.Is(err, git.ErrMissing) {
		return nil, nil // nothing is committed yet
	}
	if err != nil {
		return nil, fmt.Errorf("read HEAD: %w", err)
	}
	trunk, err := gitref.DefaultBranch(ctx, r.Repo)
	if err != nil {
		return nil, err
	}
	most := "--max-count=" + strconv.Itoa(mostCommits)
	if branch == "" || trunk == "" || trunk == "refs/heads/"+branch {
		return gitlog.Commits(ctx, r.Repo, most, string(head.OID), "--")
	}
	commits, err := gitlog.Commits(ctx, r.Repo, most, "--first-parent", string(head.OID), "--")
	if err != nil {
		return nil, err
	}
	line, err := r.trunkSince(ctx, trunk, commits)
	if err != nil {
		return nil, err
	}
	if fork := slices.IndexFunc(commits, func(c git.Commit) bool { return line[c.OID] }); fork >= 0 {
		commits = commits[:fork]
	}
	return commits, nil
}

// trunkSince are the commits in the default branch's line of first parents that
// may be among commits: those not older than the oldest of them.
func (r Reader) trunkSince(ctx context.Context, trunk string, commits []git.Commit) (map[git.OID]bool, error) {
	const skew = 24 * time.Hour // clocks differ
	oldest := slices.MinFunc(commits, func(a, b git.Commit) int { return a.Committer.When.Compare(b.Committer.When) })
	since := "--since=" + oldest.Committer.When.Add(-skew).Format(time.RFC3339)
	out, err := r.Repo.Run(ctx, "rev-list", "--first-parent", since, trunk, "--")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", trunk, err)
	}
	line := map[git.OID]bool{}
	for oid := range strings.Lines(string(out)) {
		line[git.OID(strings.TrimSpace(oid))] = true
	}
	return line, nil
}
