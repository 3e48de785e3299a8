package snapshots

import (
	"context"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/journal"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// AddPair requests the snapshot that belongs to a commit's checkpoint.
func (rq *Requests) AddPair(ctx context.Context, id checkpoint.ID, commit journal.LinkedCommit) {
	if _, err := rq.snapshots.Store(); err != nil {
		return
	}
	q := Request{Cause: bands.Commit, Pair: string(id), Commit: string(commit.OID), Late: commit.Late, Causality: bands.Causality{Commit: string(commit.OID)}}
	if s := rq.running(ctx); s != nil {
		q.Causality = rq.snapshots.Causality(s, workspace.Input{})
		q.Causality.Commit = string(commit.OID)
	}
	if err := rq.Add(q, string(id)); err != nil {
		rq.Log.WarnContext(ctx, "checkpoint has no snapshot", "checkpoint_id", string(id), "error", err.Error())
	}
}

// running returns the session of this worktree whose turn runs, nil unless there is
// exactly one.
func (rq *Requests) running(ctx context.Context) *session.State {
	var found *session.State
	for _, s := range rq.PendingSessions(ctx) {
		if s.Phase != session.Active {
			continue
		}
		if found != nil {
			return nil
		}
		found = s
	}
	return found
}

// pair records that a snapshot belongs to a checkpoint.
func (rq *Requests) pair(held *bands.Held, s bands.Snapshot, q Request, late bool) error {
	return held.AddPair(s.Version, bands.Pair{Checkpoint: q.Pair, Commit: q.Commit, Created: rq.Env.Now().UTC(), Late: late})
}
