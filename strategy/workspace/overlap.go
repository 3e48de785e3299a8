package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// NewestFirst returns the sessions in the order in which they were active, the
// last one first.
func NewestFirst(states []*session.State) []*session.State {
	sorted := slices.Clone(states)
	slices.SortStableFunc(sorted, func(a, b *session.State) int { return lastActive(b).Compare(lastActive(a)) })
	return sorted
}

func IsBusy(s *session.State) bool { return s.Phase == session.Active || s.Recorder.Background }

// ContainsPath says whether sorted has the path: a turn may change ten thousand files.
func ContainsPath(sorted []string, path string) bool {
	_, found := slices.BinarySearch(sorted, path)
	return found
}

// RelativePaths turns absolute paths into those of this worktree and leaves out
// the others.
func (r *Workspace) RelativePaths(paths []string) map[string]bool {
	in := make(map[string]bool, len(paths))
	for _, p := range paths {
		if rel, ok := RelativePath(r.Repo, p); ok {
			in[rel] = true
		}
	}
	return in
}

// RelativePath turns an absolute path into one of the worktree, false if it is
// none or belongs to this program.
func RelativePath(repo *git.Repo, path string) (string, bool) {
	rel, ok := repo.Rel(path)
	return rel, ok && !strings.HasPrefix(rel, ".entire/")
}

// ShadowTree is the tree of the session's shadow branch, empty if there is
// none.
func (r *Files) ShadowTree(ctx context.Context, s *session.State) (git.OID, error) {
	if s.BaseCommit == "" {
		return r.Repo.EmptyTree(), nil
	}
	return r.BranchTree(ctx, checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID))
}

func (r *Files) BranchTree(ctx context.Context, name string) (git.OID, error) {
	c, err := r.Repo.Commit(ctx, name)
	switch {
	case errors.Is(err, git.ErrMissing):
		return r.Repo.EmptyTree(), nil
	case err != nil:
		return "", fmt.Errorf("read shadow branch %s: %w", name, err)
	}
	return c.Tree, nil
}

func (r *Workspace) Lookup(ctx context.Context, tree git.OID, path string) (git.TreeEntry, bool, error) {
	if tree == r.Repo.EmptyTree() {
		return git.TreeEntry{}, false, nil
	}
	return r.Repo.Lookup(ctx, tree, path)
}
