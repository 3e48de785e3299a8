package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// lag is the maximum delay of the transcript after the input of a stop.
const lag = 300 * time.Millisecond

// CompleteSession stores the rest of a session's transcript and completes its checkpoints with it.
func CompleteSession(ctx context.Context, w *workspace.Workspace, id string) error {
	return w.Retry(func() error { return completeOnce(ctx, w, id) })
}

func completeOnce(ctx context.Context, w *workspace.Workspace, id string) error {
	done, err := awaitLast(ctx, w, id)
	if done == nil || err != nil {
		return err
	}
	before := w.Redactions()
	// Redacting takes long and is done without the lock: every process produces the same pieces.
	_, failed := tracking.StoreTranscript(ctx, w, done, tracking.NoLimit)
	if failed == nil {
		_, failed = tracking.MaskStored(ctx, w, done, tracking.NoLimit)
	}
	if err := w.Repo.SyncObjects(); err != nil { // the state refers to them
		return errors.Join(failed, err)
	}
	if failed != nil {
		return errors.Join(failed, keepStored(ctx, w, done, before))
	}
	return w.WithLock(ctx, func() error {
		if w.Redactions() != before {
			return workspace.ErrStale
		}
		s, err := w.Sessions.Load(done.ID)
		if err != nil {
			return err
		}
		takeStored(s, done)
		n := new(tracking.Pending)
		if s.Recorder.Stored.Masked < len(s.Recorder.Known) {
			return workspace.ErrStale // another hook knows more
		}
		if err := tracking.MaskTexts(ctx, w, s, n); err != nil {
			return err
		}
		if ids := workspace.IncompleteCheckpoints(s); len(ids) > 0 {
			// The last text of a turn belongs to its last checkpoint, unless another prompt has
			// begun.
			last := s.LastCheckpointID
			if s.Phase == session.Active || last != s.Recorder.CountedIn || !slices.Contains(ids, last) {
				last = ""
			}
			if err := RewriteSlots(ctx, w, s, n, ids, last); err != nil {
				return err
			}
			MarkCovered(w, s, last)
		}
		if s.Recorder.Expect == "" {
			s.Recorder.Incomplete = nil
		}
		return n.Save(w.Sessions, s)
	})
}

// keepStored adds the segments of the transcript that were stored before the timeout to the
// session's state, so that the next child continues from there.
func keepStored(ctx context.Context, w *workspace.Workspace, done *session.State, redactions int) error {
	const patience = time.Second
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return w.WithLock(soon, func() error {
		s, err := w.Sessions.Load(done.ID)
		if err != nil || w.Redactions() != redactions || !takeStored(s, done) {
			return err
		}
		return w.Sessions.Save(s)
	})
}

// takeStored copies the stored transcript from done to s if done has more of it, or as much with more
// secrets replaced, and reports whether it has.
func takeStored(s, done *session.State) bool {
	old, stored := s.Recorder.Stored, done.Recorder.Stored
	more := s.Recorder.Cursor.Inode == done.Recorder.Cursor.Inode &&
		(stored.Raw > old.Raw || stored.Raw == old.Raw && stored.Masked > old.Masked) &&
		(bytes.HasPrefix(done.Recorder.Known, s.Recorder.Known) || bytes.HasPrefix(s.Recorder.Known, done.Recorder.Known))
	if !more {
		return false
	}
	s.Recorder.Stored = stored
	if len(done.Recorder.Known) > len(s.Recorder.Known) {
		s.Recorder.Known = done.Recorder.Known
	}
	return true
}

// awaitLast updates the session from its transcript. If the transcript lacks the last message
// reported by a stop, it waits up to lag for it. It returns nil if the message isn't written in
// time, in which case the next hook handles it, or if the session doesn't exist.
func awaitLast(ctx context.Context, w *workspace.Workspace, id string) (*session.State, error) {
	const looks = 10
	s, err := refresh(ctx, w, id)
	for range looks {
		if err != nil || s == nil || s.Recorder.Expect == "" {
			return s, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lag / looks):
		}
		s, err = refresh(ctx, w, id)
	}
	return nil, err
}

// refresh updates a session's state from its transcript. It returns nil if the session doesn't
// exist. The transcript is read without the lock, and read again if another hook saved the session
// meanwhile.
func refresh(ctx context.Context, w *workspace.Workspace, id string) (s *session.State, err error) {
	err = w.Retry(func() error {
		stamp := w.Stamp(id)
		if s, err = w.Sessions.Load(id); errors.Is(err, session.ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		n, cursor, agents := new(tracking.Pending), s.Recorder.Cursor, encodeAgents(s)
		if err := tracking.CatchUp(ctx, w, s, n); err != nil {
			return err
		}
		if s.Recorder.Cursor == cursor && bytes.Equal(encodeAgents(s), agents) {
			return nil // nothing new
		}
		return tracking.SaveUnchanged(ctx, w, s, n, stamp, nil)
	})
	return s, err
}

// encodeAgents encodes the read positions in the transcripts of the session's subagents, for a
// comparison.
func encodeAgents(s *session.State) []byte {
	data, err := json.Marshal(s.Recorder.Agents)
	if err != nil {
		return nil
	}
	return data
}

// StartCompletions starts completing the checkpoints of turns that may never stop, from the current
// transcripts. except is the session of the running hook. A turn is known to be running only if the
// agent's process is known.
func StartCompletions(ctx context.Context, w *workspace.Workspace, except string) {
	for _, s := range w.OwnSessions(ctx, w.Sessions.Glance) {
		agent := s.Recorder.Agent
		stopped := s.Phase == session.Active && (agent.PID == 0 || !w.Env.Alive(agent.PID, agent.Start))
		if (stopped && len(s.TurnCheckpointIDs) > 0 && s.ID != except) || (len(s.Recorder.Incomplete) > 0 && s.ID != except) {
			w.RequestCompletionIfIdle(ctx, s.ID)
		}
	}
}
