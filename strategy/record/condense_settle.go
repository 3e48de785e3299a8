package record

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// commitStates updates and saves the states of the sessions with a share: their next checkpoint
// begins after the commit, and only the remaining files stay pending.
func commitStates(ctx context.Context, w *workspace.Workspace, d tracking.Decision, head git.Commit, todo []authorship.Slot) error {
	for _, c := range todo {
		s, rec := c.State, &c.State.Recorder
		if s.Phase == session.Active {
			s.TurnCheckpointIDs = addID(s.TurnCheckpointIDs, d.ID)
		}
		if !c.Complete {
			rec.Incomplete = addID(rec.Incomplete, d.ID)
		}
		s.Keep(c.Rest.Paths)
		s.Withhold(c.Rest.Withheld)
		if err := errors.Join(tracking.SettleSteps(ctx, w, s, c.Notes, slices.Concat(c.Rest.Paths, s.Recorder.Withheld)), tracking.RenameSteps(ctx, w, s, c.Notes, c.Rest.Renamed)); err != nil {
			return err
		}
		counted := counts(s, d)
		s.CheckpointCount, s.TranscriptStart, s.LastCheckpointID = 0, rec.Cursor.Lines, string(d.ID)
		const mostLinked = 20
		rec.Linked = append(slices.DeleteFunc(slices.Clone(rec.Linked), func(id string) bool { return id == string(d.ID) }), string(d.ID))
		rec.Linked = rec.Linked[max(0, len(rec.Linked)-mostLinked):]
		if len(c.Rest.Paths) > 0 {
			s.CheckpointCount = 1 // of the carry-forward
			for _, p := range c.Rest.Paths {
				if since, ok := rec.Since[p]; ok {
					s.TranscriptStart = min(s.TranscriptStart, since)
				}
			}
		}
		s.TranscriptIDAtStart = rec.LastUUID
		if counted {
			rec.CountedBefore, rec.Counted, rec.CountedIn = countedBefore(s, d), s.Total(), string(d.ID)
		}
		rec.Applied = d.Nonce
		var rest []tracking.Step // of turns with files that are still pending
		if len(rec.Tasks) > 0 && len(c.Rest.Paths) > 0 {
			rest = tracking.ReadSteps(ctx, w, s, c.Notes)
		}
		rec.DropTasks(func(turn string) bool { // the rest of a running turn needs its subagents' calls, too
			return s.Phase == session.Active && turn == s.TurnID || slices.ContainsFunc(rest, func(step tracking.Step) bool { return turn != "" && step.Turn == turn })
		})
		s.BaseCommit, s.AttributionBase = string(head.OID), string(head.OID)
		if err := c.Notes.Save(w.Sessions, s); err != nil {
			return err
		}
	}
	return nil
}

func addID(ids []string, id checkpoint.ID) []string {
	if slices.Contains(ids, string(id)) {
		return ids
	}
	return append(ids, string(id))
}
