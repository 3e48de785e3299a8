package tracking

import (
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// IsShadowNeeded reports whether a session other than those in leaving has work on the branch. The
// caller holds the lock. The list of sessions is read again, as one may have begun since this
// hook did.
func IsShadowNeeded(w *workspace.Workspace, branch string, leaving []string) bool {
	states, _ := session.Open(w.Repo.CommonDir).Pending()
	return slices.ContainsFunc(states, func(s *session.State) bool {
		return !slices.Contains(leaving, s.ID) && s.BaseCommit != "" && len(s.FilesTouched)+s.CheckpointCount > 0 &&
			checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID) == branch
	})
}
