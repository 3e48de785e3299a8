package savedcontext

import (
	"context"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// fresh is the maximum age of a checkpoint that a new session may continue from.
const fresh = 24 * time.Hour

// mostOthers bounds the checkpoints that a first prompt is compared with, beside the one that
// the session was offered.
const mostOthers = 5

// offered holds the checkpoints that a new session may continue from.
type offered struct {
	id   string // empty if there is no checkpoint
	kind brief.Kind
	// others are the newest fresh checkpoints of other sessions, older those that aren't fresh, the
	// newest first. The first prompt may continue one of them.
	others, older []string
}

// newest returns the checkpoint whose brief a new session of this worktree gets, and the kind
// of brief: Full for the newest fresh checkpoint of the branch, else Opening for the newest
// fresh one of another branch, else Notice. An automatic checkpoint of a session that still
// runs is skipped. The age of a lost session's checkpoint counts from the session's last
// activity.
func newest(ctx context.Context, w *workspace.Workspace, in workspace.Input) (o offered, err error) {
	const enough = 20
	list, err := Contexts(w).List(ctx, contextstore.Filter{Worktree: w.Repo.Root, Limit: enough})
	if err != nil {
		return o, err
	}
	branch, err := branchShown(ctx, w)
	if err != nil {
		return o, err
	}
	list = slices.DeleteFunc(list, func(e contextstore.Entry) bool {
		if !e.Cause.Automatic() || e.Session == "" || e.Session == in.SessionID {
			return false
		}
		t, ok := readHeader(w, e.Session)
		return ok && isRunning(w, t, in.Agent)
	})
	for i, e := range list {
		if t, ok := readHeader(w, e.Session); ok && e.Cause == recall.Lost {
			list[i].CreatedAt = lastActive(w, e.Session, t).Truncate(time.Second) // like all others
		}
	}
	slices.SortStableFunc(list, func(a, b contextstore.Entry) int { return b.CreatedAt.Compare(a.CreatedAt) })
	if len(list) == 0 {
		return ofFork(ctx, w)
	}
	recent := list[:0:0]
	for _, e := range list {
		here := e.Cause == recall.Recorded && e.Branch == branch // by another person, maybe days ago
		if here || w.Env.Now().Sub(e.CreatedAt) < fresh {
			recent = append(recent, e)
		}
	}
	seen := map[string]bool{}
	if len(recent) > 0 {
		o = offered{id: recent[0].ID, kind: brief.Opening}
		at := max(0, slices.IndexFunc(recent, func(e contextstore.Entry) bool { return e.Branch == branch }))
		if recent[at].Branch == branch {
			o = offered{id: recent[at].ID, kind: brief.Full}
		}
		seen[recent[at].Session] = true
	} else {
		o = offered{id: list[0].ID, kind: brief.Notice}
	}
	for i, e := range slices.Concat(recent, list) {
		if seen[e.Session] {
			continue
		}
		seen[e.Session] = true
		if i < len(recent) {
			o.others = append(o.others, e.ID)
		} else {
			o.older = append(o.older, e.ID)
		}
	}
	return o, nil
}

// ofFork returns the newest checkpoint of the session that a fork was made of: its brief if the
// session has not continued since, else the notice.
func ofFork(ctx context.Context, w *workspace.Workspace) (offered, error) {
	f, ok := rewind.ForkHere(w)
	if !ok || f.Session == "" {
		return offered{}, nil
	}
	list, err := Contexts(w).List(ctx, contextstore.Filter{Session: f.Session, Limit: 1})
	if err != nil || len(list) == 0 {
		return offered{}, err
	}
	s, err := w.Sessions.Load(f.Session)
	if err != nil || f.Turn == "" || s.TurnID != f.Turn {
		return offered{id: list[0].ID, kind: brief.Notice}, nil //nolint:nilerr // the state was removed
	}
	return offered{id: list[0].ID, kind: brief.Full}, nil
}
