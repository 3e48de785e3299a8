package record

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// commitPlan holds the files of a turn's commit.
type commitPlan struct {
	paths []string
	fresh []string // those of paths that are not in the index
}

// planCommit determines with git which of the due files to commit. Files that the user has staged,
// wholly or in part, are the user's to commit. Files that the agent has staged as they are in the
// working tree are the turn's.
func planCommit(ctx context.Context, w *workspace.Workspace, s *session.State) (commitPlan, error) {
	due := s.Recorder.Due
	files := slices.DeleteFunc(slices.Clone(due.Files), func(p string) bool { return !workspace.ContainsPath(s.FilesTouched, p) })
	if len(files) == 0 {
		return commitPlan{}, nil
	}
	entries, err := git.Status(ctx, w.Repo, files...)
	if err != nil {
		return commitPlan{}, fmt.Errorf("find what to commit: %w", err)
	}
	byAgent := !due.Index.IsZero() && due.Index.Equal(tracking.IndexTime(w))
	var plan commitPlan
	var theirs []string
	for _, e := range entries {
		switch {
		case !workspace.ContainsPath(files, e.Path): // below a path that became a folder
		case e.Index == '?':
			plan.fresh = append(plan.fresh, e.Path)
			plan.paths = append(plan.paths, e.Path)
		case e.Index == ' ', byAgent && e.Worktree == ' ':
			plan.paths = append(plan.paths, e.Path)
		default:
			theirs = append(theirs, e.Path)
		}
	}
	if len(theirs) > 0 {
		w.Log.InfoContext(ctx, "left out of the turn's commit: staged", "session_id", s.ID, "files", len(theirs), "first", theirs[0])
	}
	slices.Sort(plan.paths)
	return plan, nil
}

// alignIndex updates the index to the commit where nothing else is staged: git doesn't add changes
// to the index that a user's hook makes during the commit.
func alignIndex(ctx context.Context, w *workspace.Workspace, head git.Commit, paths []string) error {
	staged, err := git.Staged(ctx, w.Repo, head.OID)
	var stale []string
	if err == nil && len(staged) > 0 {
		var list []git.Change
		list, err = git.Changes(ctx, w.Repo, firstParent(head), head.OID)
		committed := tracking.ByPath(list)
		for _, c := range staged {
			was, ok := committed[c.Path]
			asBefore := ok && was.Old == c.New && was.OldMode == c.NewMode
			if asBefore || workspace.ContainsPath(paths, c.Path) {
				stale = append(stale, c.Path)
			}
		}
	}
	if err == nil {
		err = git.Unstage(ctx, w.Repo, stale)
	}
	if err != nil {
		return fmt.Errorf("bring the index in line with %s: %w", head.OID.Short(), err)
	}
	return nil
}
