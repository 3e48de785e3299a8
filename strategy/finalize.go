package strategy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// finalize completes the checkpoints of a turn's commits, now that the turn is
// over: they get the whole transcript, and the last one the tokens that nobody
// has counted. What of it can't be done within the budget is left to a child.
func (r *Recorder) finalize(ctx context.Context, s *session.State, n *notes) error {
	ids := unfinished(s)
	if len(ids) == 0 {
		return nil
	}
	if err := r.recount(ctx, s); err != nil {
		return err
	}
	if err := r.catchUp(ctx, s, n); err != nil {
		return err
	}
	complete, err := r.store(ctx, s, redactInStop)
	if err != nil {
		return err
	}
	last := ""
	if n := len(s.TurnCheckpointIDs); n > 0 {
		last = s.TurnCheckpointIDs[n-1]
	}
	n.refs = append(n.refs, func() error {
		if err := r.rewriteSlots(ctx, s, n, ids, last); err != nil {
			return err
		}
		counted(s, ids, last, complete)
		return nil
	})
	return nil
}

// recount makes the state agree with the checkpoint that was counted last: a
// stop may have completed that and been stopped itself before the state was
// saved.
func (r *Recorder) recount(ctx context.Context, s *session.State) error {
	rec := &s.Recorder
	if rec.CountedIn == "" || !slices.Contains(unfinished(s), rec.CountedIn) {
		return nil
	}
	c, err := r.readCheckpoint(ctx, checkpoint.ID(rec.CountedIn))
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

// counted notes in the state that the checkpoints of its turn are complete.
func counted(s *session.State, ids []string, last string, complete bool) {
	if last != "" && last == s.LastCheckpointID {
		s.Recorder.Counted = s.Total()
		if len(s.FilesTouched) == 0 {
			s.TranscriptStart = s.Recorder.Cursor.Lines
		}
	}
	s.TurnCheckpointIDs, s.Recorder.Incomplete = nil, nil
	if !complete || s.Recorder.Expect != "" {
		s.Recorder.Incomplete = ids
	}
}

// rewriteSlots writes the session's slots in the checkpoints ids anew, with
// the transcript as it is stored now. The checkpoint last, if it is the
// session's last one, counts all tokens that earlier ones haven't.
func (r *Recorder) rewriteSlots(ctx context.Context, s *session.State, n *notes, ids []string, last string) error {
	slot, err := r.slot(ctx, s, n)
	if err != nil {
		return err
	}
	total := s.Total()
	share := total.Minus(s.Recorder.CountedBefore)
	changes := make([]checkpoint.Change, len(ids))
	for i, id := range ids {
		changes[i] = func(ctx context.Context, tree git.OID) (git.OID, string, error) {
			old, ok := oldSlot(ctx, r.Repo, tree, checkpoint.ID(id), s.ID)
			if !ok {
				return tree, "", nil
			}
			if len(slot.Transcript.Segments) > 0 {
				old.Transcript, old.Prompts = slot.Transcript, slot.Prompts
			}
			old.Meta.SessionTokenUsage = &total
			if id == last && id == s.LastCheckpointID {
				old.Meta.TokenUsage = &share
			}
			next, err := checkpoint.Put(ctx, r.Repo, tree, checkpoint.ID(id), old, checkpoint.SummaryInfo{})
			return next, checkpoint.FinalizeMessage(checkpoint.ID(id)), err
		}
	}
	by, err := r.Repo.Identity(ctx)
	if err != nil {
		return err
	}
	by.When = r.Env.Now()
	if _, err := checkpoint.Update(ctx, r.Repo, by, changes, nil); err != nil {
		return fmt.Errorf("complete checkpoints: %w", err)
	}
	return nil
}

// lag is how long the transcript may be behind what a stop was told.
const lag = 300 * time.Millisecond

// Complete does what a hook left because somebody was waiting: decisions that
// were not carried out, and for the session id, if one is named, the rest of
// its transcript and of its checkpoints. The long part of it, redacting, is
// done without the lock: pieces come out the same whoever makes them.
func (r *Recorder) Complete(ctx context.Context, id string) error {
	err := r.locked(ctx, func() error {
		for _, d := range r.decisions(ctx) {
			if err := r.late(ctx, d, git.Commit{}); err != nil {
				return err
			}
		}
		return nil
	})
	r.endDead(ctx)
	if err != nil || id == "" {
		return err
	}
	s, err := r.refresh(ctx, id)
	for deadline := time.After(lag); s != nil && err == nil && s.Recorder.Expect != ""; {
		select {
		case <-deadline:
			return nil // it comes with the next hook
		case <-time.After(lag / 10): //nolint:mnd // often enough
		}
		s, err = r.refresh(ctx, id)
	}
	if s == nil || err != nil {
		return err
	}
	if _, err := r.store(ctx, s, noLimit); err != nil {
		return err
	}
	stored, inode := s.Recorder.Stored, s.Recorder.Cursor.Inode
	return r.locked(ctx, func() error {
		s, err := r.Sessions.Load(id)
		if err != nil {
			return err
		}
		if s.Recorder.Cursor.Inode == inode && stored.Raw > s.Recorder.Stored.Raw {
			s.Recorder.Stored = stored
		}
		if ids := unfinished(s); len(ids) > 0 {
			if err := r.rewriteSlots(ctx, s, new(notes), ids, ""); err != nil {
				return err
			}
		}
		if s.Recorder.Expect == "" {
			s.Recorder.Incomplete = nil
		}
		return r.Sessions.Save(s)
	})
}

// refresh brings a session's state up to date with its transcript; nil if
// there is no such session.
func (r *Recorder) refresh(ctx context.Context, id string) (s *session.State, err error) {
	err = r.locked(ctx, func() error {
		s, err = r.Sessions.Load(id)
		if errors.Is(err, session.ErrNotFound) {
			s = nil
			return nil
		}
		n := new(notes)
		if err == nil {
			err = r.catchUp(ctx, s, n)
		}
		if err == nil {
			err = n.write(r.Sessions, id)
		}
		if err == nil {
			err = r.Sessions.Save(s)
		}
		return err
	})
	return s, err
}

// unfinished are the checkpoints that don't have the whole transcript yet, in
// the order in which they were made.
func unfinished(s *session.State) []string {
	ids := slices.Clone(s.Recorder.Incomplete)
	for _, id := range s.TurnCheckpointIDs {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// topUp lets the checkpoints of turns that may never stop have what their
// transcripts hold by now. except is the session that the hook is about.
// Whether a turn goes on can be told only of an agent whose process is known.
func (r *Recorder) topUp(ctx context.Context, except string) {
	for _, s := range r.pendingHere(ctx) {
		agent := s.Recorder.Agent
		stopped := s.Phase == session.Active && (agent.PID == 0 || !r.Env.Alive(agent.PID, agent.Start))
		if (stopped && len(s.TurnCheckpointIDs) > 0 && s.ID != except) || (len(s.Recorder.Incomplete) > 0 && s.ID != except) {
			r.detach(ctx, s.ID)
		}
	}
}
