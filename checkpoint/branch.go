package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
)

const (
	// retries is the maximum number of repetitions of an update after another process moved the
	// branch.
	retries = 5
	// backoff is the maximum wait before the first repetition; it doubles.
	backoff = 4 * time.Millisecond
)

// Change returns the next tree of the metadata branch, given the present one, and the message of
// its commit. It may be called again with another tree.
type Change func(ctx context.Context, tree git.OID) (next git.OID, message string, err error)

// v1 resolves the metadata branch for writing. tip is the local branch's commit, empty if there is
// no local branch. parent and tree are the commit to continue and its tree: the tip, else the
// commit fetched from origin, else a new first commit, whose objects are written.
func v1(ctx context.Context, repo *git.Repo, by git.Signature) (tip, parent, tree git.OID, err error) {
	found, local, err := findTip(ctx, repo)
	switch {
	case err == nil && local:
		return found.OID, found.OID, found.Tree, nil
	case err == nil:
		return "", found.OID, found.Tree, nil
	case !errors.Is(err, ErrNotFound):
		return "", "", "", err
	}
	first, err := git.WriteTree(repo, nil)
	if err != nil {
		return "", "", "", fmt.Errorf("begin %s: %w", MetadataBranch, err)
	}
	commit := git.Commit{Tree: first, Author: by, Committer: by, Message: initMessage}
	parent, err = repo.WriteCommit(commit)
	if err != nil {
		return "", "", "", fmt.Errorf("begin %s: %w", MetadataBranch, err)
	}
	return "", parent, first, nil
}

// Update applies the changes, one commit for each, and moves the metadata branch to the last commit
// in one transaction with the extra ref updates. A change that returns the given tree makes no
// commit. Without any commit the branch stays, and is not created. If another process moved the
// branch, the changes are applied again to the new tip, at most five times. If an extra ref was
// moved, Update returns git.ErrRefMoved immediately and moves nothing.
//
// It returns the branch's commit, empty if there is no branch.
func Update(ctx context.Context, repo *git.Repo, by git.Signature, changes []Change, extra []git.RefChange) (git.OID, error) {
	return persist(ctx, repo, extra, func() (git.OID, error) {
		tip, parent, tree, err := v1(ctx, repo, by)
		if err != nil {
			return "", err
		}
		last := parent
		for _, change := range changes {
			next, message, err := change(ctx, tree)
			if err != nil {
				return "", err
			}
			if next == tree {
				continue
			}
			commit := git.Commit{Tree: next, Parents: []git.OID{last}, Author: by, Committer: by, Message: message}
			if last, err = repo.WriteCommit(commit); err != nil {
				return "", err
			}
			tree = next
		}
		updates := slices.Clip(extra)
		if last != parent {
			updates = append(updates, git.RefChange{Name: MetadataBranch, New: last, Old: tip})
			tip = last
		}
		if len(updates) == 0 {
			return tip, nil
		}
		return tip, git.UpdateRefs(ctx, repo, "entire: checkpoint", updates)
	})
}

// persist repeats try while other processes move the branch, unless they moved an extra ref.
func persist(ctx context.Context, repo *git.Repo, extra []git.RefChange, try func() (git.OID, error)) (git.OID, error) {
	for attempt := 0; ; attempt++ {
		tip, err := try()
		if err == nil {
			return tip, nil
		}
		raced := errors.Is(err, git.ErrRefMoved) || errors.Is(err, git.ErrRefLocked)
		if attempt == retries || !raced || moved(ctx, repo, extra) {
			return "", fmt.Errorf("update %s: %w", MetadataBranch, err)
		}
		if err := pause(ctx, backoff<<attempt); err != nil {
			return "", fmt.Errorf("update %s: %w", MetadataBranch, err)
		}
	}
}

// moved reports whether one of the refs differs from the old value in its update.
func moved(ctx context.Context, repo *git.Repo, updates []git.RefChange) bool {
	for _, u := range updates {
		object, err := repo.Read(ctx, u.Name)
		if err != nil && !errors.Is(err, git.ErrMissing) || object.OID != u.Old {
			return true
		}
	}
	return false
}

// pause waits for a random time up to limit, so that two processes that collided don't collide
// again.
func pause(ctx context.Context, limit time.Duration) error {
	timer := time.NewTimer(rand.N(limit)) //nolint:gosec // a jitter is no secret
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// UserRefs returns the arguments with which git log starts from all refs, including those of
// remotes, except the program's own.
func UserRefs() []string {
	return []string{"--exclude=refs/heads/entire/*", "--exclude=refs/remotes/*/entire/*", "--exclude=refs/entire/*", "--all"}
}
