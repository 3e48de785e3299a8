package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// mostCommits is the maximum number of commits of a branch that are read.
const mostCommits = 500

// commitFinder finds commits of branches and of checkpoints.
type commitFinder struct{ repo *git.Repo }

// branchCommits returns the commits of the current branch, newest first. For the default branch
// these are all commits in it, otherwise the branch's own, which end where the default branch's
// line of first parents begins.
func (cf commitFinder) branchCommits(ctx context.Context, branch string) ([]git.Commit, error) {
	head, err := cf.repo.Commit(ctx, "HEAD")
	if errors.Is(err, git.ErrMissing) {
		return nil, nil // there is no commit yet
	}
	if err != nil {
		return nil, fmt.Errorf("read HEAD: %w", err)
	}
	trunk, err := git.DefaultBranch(ctx, cf.repo)
	if err != nil {
		return nil, err
	}
	most := "--max-count=" + strconv.Itoa(mostCommits)
	if branch == "" || trunk == "" || trunk == "refs/heads/"+branch {
		return git.Commits(ctx, cf.repo, most, string(head.OID), "--")
	}
	commits, err := git.Commits(ctx, cf.repo, most, "--first-parent", string(head.OID), "--")
	if err != nil {
		return nil, err
	}
	// Read the default branch's line of first parents, as far as it may overlap with the commits:
	// to the date of the oldest of them.
	const skew = 24 * time.Hour // clocks differ
	oldest := slices.MinFunc(commits, func(a, b git.Commit) int { return a.Committer.When.Compare(b.Committer.When) })
	since := "--since=" + oldest.Committer.When.Add(-skew).Format(time.RFC3339)
	out, err := cf.repo.Run(ctx, "rev-list", "--first-parent", since, trunk, "--")
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", trunk, err)
	}
	line := map[git.OID]bool{}
	for oid := range strings.Lines(string(out)) {
		line[git.OID(strings.TrimSpace(oid))] = true
	}
	if fork := slices.IndexFunc(commits, func(c git.Commit) bool { return line[c.OID] }); fork >= 0 {
		commits = commits[:fork]
	}
	return commits, nil
}

// commitsOf returns the commits with a checkpoint's id, newest first. Commits older than the
// checkpoint are examined only if there is none: they are many, and their dates are seldom wrong.
func (cf commitFinder) commitsOf(ctx context.Context, id checkpoint.ID, created time.Time, where Search) ([]git.Commit, error) {
	const skew = 24 * time.Hour // clocks differ
	of := []checkpoint.ID{id}
	if where == All {
		return checkpoint.LinkedCommits(ctx, cf.repo, of, append(checkpoint.UserRefs(), "--")...)
	}
	args := []string{"--exclude=entire/*", "--branches"}
	if head, err := cf.repo.Commit(ctx, "HEAD"); err == nil { // it may be detached
		args = append(args, string(head.OID))
	}
	if !created.IsZero() {
		commits, err := checkpoint.LinkedCommits(ctx, cf.repo, of, append(args, "--since="+created.Add(-skew).Format(time.RFC3339), "--")...)
		if len(commits) > 0 || err != nil {
			return commits, err
		}
	}
	return checkpoint.LinkedCommits(ctx, cf.repo, of, append(args, "--")...)
}
