package tracking

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// AddPair requests the snapshot to be paired with a commit's checkpoint.
func AddPair(ctx context.Context, w *workspace.Workspace, id checkpoint.ID, commit LinkedCommit) {
	if _, err := SnapshotStore(w); err != nil {
		return
	}
	q := SnapshotRequest{Cause: bands.Commit, Pair: string(id), Commit: string(commit.OID), Late: commit.Late, Causality: bands.Causality{Commit: string(commit.OID)}}
	running := slices.DeleteFunc(w.PendingSessions(ctx), func(s *session.State) bool { return s.Phase != session.Active })
	if len(running) == 1 { // else the turn that made the commit is unknown
		q.Causality = Causality(w, running[0], workspace.Input{})
		q.Causality.Commit = string(commit.OID)
	}
	if err := AddRequest(w, q, string(id)); err != nil {
		w.Log.WarnContext(ctx, "checkpoint has no snapshot", "checkpoint_id", string(id), "error", err.Error())
	}
}

// pair records that a snapshot belongs to a checkpoint.
func pair(w *workspace.Workspace, held *bands.Held, s bands.Snapshot, q SnapshotRequest, late bool) error {
	return held.AddPair(s.Version, bands.Pair{Checkpoint: q.Pair, Commit: q.Commit, Created: w.Env.Now().UTC(), Late: late})
}
