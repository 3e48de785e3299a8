package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// ShadowTree returns the tree of the session's shadow branch, the empty tree if there
// is none.
func (w *Workspace) ShadowTree(ctx context.Context, s *session.State) (git.OID, error) {
	if s.BaseCommit == "" {
		return w.Repo.Format.EmptyTree(), nil
	}
	return w.BranchTree(ctx, checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID))
}

// BranchTree returns the tree of a shadow branch, the empty tree if there is none.
func (w *Workspace) BranchTree(ctx context.Context, name string) (git.OID, error) {
	c, err := w.Repo.Commit(ctx, name)
	switch {
	case errors.Is(err, git.ErrMissing):
		return w.Repo.Format.EmptyTree(), nil
	case err != nil:
		return "", fmt.Errorf("read shadow branch %s: %w", name, err)
	}
	return c.Tree, nil
}

// Lookup returns the entry of a path in a tree, which may be the empty tree without being
// stored.
func (w *Workspace) Lookup(ctx context.Context, tree git.OID, path string) (git.TreeEntry, bool, error) {
	if tree == w.Repo.Format.EmptyTree() {
		return git.TreeEntry{}, false, nil
	}
	return git.LookupPath(ctx, w.Repo, tree, path)
}

// NextTip returns the tip that the session's next shadow commit builds on, and the session's
// old shadow branch if HEAD has moved, else an empty name.
func (w *Workspace) NextTip(ctx context.Context, refs *RefTransaction, s *session.State, head git.Commit) (at checkpoint.Tip, moved string, err error) {
	next := checkpoint.ShadowBranch(head.OID, w.Repo.WorktreeID)
	at, err = w.TipOf(ctx, refs, next, head)
	if err != nil || s.BaseCommit == "" {
		return at, "", err
	}
	old := checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID)
	if old == next {
		return at, "", nil
	}
	before, err := refs.Get(ctx, old)
	if err != nil || before == "" {
		return at, "", err
	}
	if at.Commit == "" {
		at.Commit = before // the older checkpoints stay reachable
	}
	return at, old, nil
}

// TipOf returns the tip that the next commit on a shadow branch of head builds on: the
// branch's last commit, or only head's tree if there is no such branch.
func (w *Workspace) TipOf(ctx context.Context, refs *RefTransaction, branch string, head git.Commit) (checkpoint.Tip, error) {
	at := checkpoint.Tip{Tree: head.Tree}
	tip, err := refs.Get(ctx, branch)
	if err != nil || tip == "" {
		return at, err
	}
	c, err := w.Repo.Commit(ctx, string(tip))
	return checkpoint.Tip{Commit: tip, Tree: c.Tree}, err
}
