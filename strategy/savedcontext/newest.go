package savedcontext

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/brief"
	"github.com/seed-3aff656d/entire/internal/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// fresh is the maximum age of a checkpoint that a new session may continue from.
const fresh = 24 * time.Hour

// newest returns the checkpoint whose brief a new session of this worktree gets, and the
// kind of brief: Full for the newest fresh checkpoint of the branch, else Opening for the
// newest fresh one of another branch, else Notice. A checkpoint that was saved automatically
// of a session that still runs is skipped. That of a lost session is as old as its last
// activity.
func (br *Briefer) newest(ctx context.Context, in workspace.Input) (id string, kind brief.Kind, err error) {
	const enough = 20
	list, err := br.saver.Contexts().List(ctx, contextstore.Filter{Worktree: br.Repo.Root, Limit: enough})
	if err != nil {
		return "", 0, fmt.Errorf("list context checkpoints: %w", err)
	}
	branch, err := br.saver.branchShown(ctx)
	if err != nil {
		return "", 0, err
	}
	list = slices.DeleteFunc(list, func(e contextstore.Entry) bool {
		if !e.Cause.Automatic() || e.Session == "" || e.Session == in.SessionID {
			return false
		}
		t, ok := br.recent.readHeader(e.Session)
		return ok && br.recent.isRunning(t, in.Agent)
	})
	for i, e := range list {
		if t, ok := br.recent.readHeader(e.Session); ok && e.Cause == recall.Lost {
			list[i].CreatedAt = br.recent.lastActive(e.Session, t).Truncate(time.Second) // as of all others
		}
	}
	slices.SortStableFunc(list, func(a, b contextstore.Entry) int { return b.CreatedAt.Compare(a.CreatedAt) })
	for i, e := range list {
		recent := br.Env.Now().Sub(e.CreatedAt) < fresh
		switch {
		case recent && e.Branch == branch:
			return e.ID, brief.Full, nil
		case i > 0:
		case recent:
			id, kind = e.ID, brief.Opening
		default:
			id, kind = e.ID, brief.Notice
		}
	}
	return id, kind, nil
}
