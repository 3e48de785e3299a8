package snapshots

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/journal"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// AddPair requests the snapshot to be paired with a commit's checkpoint.
func (rq *Requests) AddPair(ctx context.Context, id checkpoint.ID, commit journal.LinkedCommit) {
	if _, err := rq.snapshots.Store(); err != nil {
		return
	}
	q := Request{Cause: bands.Commit, Pair: string(id), Commit: string(commit.OID), Late: commit.Late, Causality: bands.Causality{Commit: string(commit.OID)}}
	running := slices.DeleteFunc(rq.PendingSessions(ctx), func(s *session.State) bool { return s.Phase != session.Active })
	if len(running) == 1 { // else the turn that made the commit is unknown
		q.Causality = rq.snapshots.Causality(running[0], workspace.Input{})
		q.Causality.Commit = string(commit.OID)
	}
	if err := rq.Add(q, string(id)); err != nil {
		rq.Log.WarnContext(ctx, "checkpoint has no snapshot", "checkpoint_id", string(id), "error", err.Error())
	}
}

// pair records that a snapshot belongs to a checkpoint.
func (rq *Requests) pair(held *bands.Held, s bands.Snapshot, q Request, late bool) error {
	return held.AddPair(s.Version, bands.Pair{Checkpoint: q.Pair, Commit: q.Commit, Created: rq.Env.Now().UTC(), Late: late})
}
