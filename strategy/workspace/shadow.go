package workspace

import (
	"context"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// NextTip answers what the session's next shadow commit builds on, and the branch
// that it leaves, if HEAD has moved.
func (r *Files) NextTip(ctx context.Context, refs *RefPlan, s *session.State, head git.Commit) (at checkpoint.Tip, moved string, err error) {
	next := checkpoint.ShadowBranch(head.OID, r.Repo.WorktreeID)
	tip, err := refs.Get(ctx, next)
	if err != nil {
		return at, "", err
	}
	at = checkpoint.Tip{Commit: tip, Tree: head.Tree}
	if tip != "" {
		c, err := r.Repo.Commit(ctx, string(tip))
		if err != nil {
			return at, "", err
		}
		at.Tree = c.Tree
	}
	if s.BaseCommit == "" {
		return at, "", nil
	}
	old := checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID)
	if old == next {
		return at, "", nil
	}
	before, err := refs.Get(ctx, old)
	if err != nil || before == "" {
		return at, "", err
	}
	if tip == "" {
		at.Commit = before // the older checkpoints stay reachable
	}
	return at, old, nil
}
