package record

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// FinalizeSlots completes the checkpoints of a turn's commits after the turn: they get the whole
// transcript, and the last one gets the tokens that are not counted yet. Work that exceeds the
// budget is left to a child.
func FinalizeSlots(ctx context.Context, w *workspace.Workspace, s *session.State, n *tracking.Pending) error {
	ids := workspace.IncompleteCheckpoints(s)
	if len(ids) == 0 {
		return nil
	}
	if err := recount(ctx, w, s); err != nil {
		return err
	}
	if err := tracking.CatchUp(ctx, w, s, n); err != nil {
		return err
	}
	complete, err := tracking.StoreMasked(ctx, w, s, n, tracking.RedactNow)
	if err != nil {
		return err
	}
	last := ""
	if n := len(s.TurnCheckpointIDs); n > 0 {
		last = s.TurnCheckpointIDs[n-1]
	}
	n.Completion = &tracking.Completion{Checkpoints: ids, Last: last, Stored: complete}
	return nil
}

// CompleteSlots carries out the pending completion and records it in the state. The caller must hold the
// lock.
func CompleteSlots(ctx context.Context, w *workspace.Workspace, s *session.State, n *tracking.Pending) error {
	c := n.Completion
	if err := RewriteSlots(ctx, w, s, n, c.Checkpoints, c.Last); err != nil {
		return err
	}
	MarkCovered(w, s, c.Last)
	s.TurnCheckpointIDs, s.Recorder.Incomplete = nil, nil
	if !c.Stored || s.Recorder.Expect != "" {
		s.Recorder.Incomplete = c.Checkpoints
	}
	return nil
}

// recount updates the state from the checkpoint that was counted last: a stop may have completed
// the checkpoint and been stopped itself before it saved the state.
func recount(ctx context.Context, w *workspace.Workspace, s *session.State) error {
	rec := &s.Recorder
	if rec.CountedIn == "" || !slices.Contains(workspace.IncompleteCheckpoints(s), rec.CountedIn) {
		return nil
	}
	c, err := authorship.ReadCheckpoint(ctx, w, checkpoint.ID(rec.CountedIn))
	if err != nil {
		return err
	}
	for _, slot := range c.Sessions {
		if used := slot.Meta.TokenUsage; slot.Meta.SessionID == s.ID && used != nil {
			rec.Counted = rec.CountedBefore.Plus(*used)
		}
	}
	return nil
}

// MarkCovered records that the checkpoint last, if it is the session's last one, contains everything
// up to now: the next one begins after it.
func MarkCovered(w *workspace.Workspace, s *session.State, last string) {
	if last == "" || last != s.LastCheckpointID {
		return
	}
	s.Recorder.CountedBefore = s.Total().Minus(tokensOf(w, s, true))
	s.Recorder.Counted = s.Total()
	if len(s.FilesTouched) == 0 {
		s.TranscriptStart = s.Recorder.Cursor.Lines
	}
}

// RewriteSlots rewrites the session's slots in the checkpoints ids with the transcript as it is
// stored now. The checkpoint last, if it is the session's last one, extends to the end of the
// transcript and counts all tokens that earlier ones haven't.
func RewriteSlots(ctx context.Context, w *workspace.Workspace, s *session.State, n *tracking.Pending, ids []string, last string) error {
	slot, err := slot(ctx, w, s, n)
	if err != nil {
		return err
	}
	total := s.Total()
	share := tokensOf(w, s, true)
	mine := "" // the one that counts the rest
	if last == s.LastCheckpointID {
		mine = last
	}
	changes := make([]checkpoint.Change, len(ids))
	for i, id := range ids {
		changes[i].ID = checkpoint.ID(id)
		changes[i].Next = func(ctx context.Context, at checkpoint.Present) (git.OID, string, error) {
			old, ok := oldSlot(ctx, w.Repo, at, checkpoint.ID(id), s.ID)
			if !ok {
				return at.Dir, "", nil
			}
			if len(slot.Transcript.Segments) > 0 {
				old.Transcript, old.Prompts = slot.Transcript, slot.Prompts
				old.Meta.TranscriptLines = slot.Meta.TranscriptLines
				old.Meta.RedactionRules = min(old.Meta.RedactionRules, slot.Meta.RedactionRules)
			}
			old.Meta.SessionTokenUsage = &total
			old.Meta.OtherRepositories = othersOf(w, s, old.Meta.OtherRepositories)
			if id == mine {
				old.Meta.TokenUsage, old.Meta.TranscriptEnd = &share, s.Recorder.Cursor.Lines
			}
			next, err := checkpoint.Put(ctx, w.Repo, at, checkpoint.ID(id), old, checkpoint.SummaryInfo{})
			return next, checkpoint.FinalizeMessage(checkpoint.ID(id)), err
		}
	}
	if err := w.UpdateRecords(ctx, changes); err != nil {
		return fmt.Errorf("complete checkpoints: %w", err)
	}
	return nil
}
