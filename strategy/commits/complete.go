package commits

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/condense"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// lag is how long the transcript may be behind the input of a stop.
const lag = 300 * time.Millisecond

// CompleteSession stores the rest of a session's transcript, and completes its
// checkpoints with it.
func (c *Committed) CompleteSession(ctx context.Context, id string) error {
	for attempt := 1; ; attempt++ {
		err := c.completeOnce(ctx, id)
		if !errors.Is(err, workspace.ErrStale) || attempt == workspace.MaxAttempts {
			return err
		}
	}
}

func (c *Committed) completeOnce(ctx context.Context, id string) error {
	done, err := c.awaitLast(ctx, id)
	if done == nil || err != nil {
		return err
	}
	before := c.Redactions()
	// The long part, redacting, is done without the lock: pieces come out the
	// same in every process.
	_, failed := c.transcripts.StoreTranscript(ctx, done, tracking.NoLimit)
	if err := c.Repo.SyncObjects(); err != nil { // the state counts on them
		return errors.Join(failed, err)
	}
	if failed != nil {
		return errors.Join(failed, c.keepStored(ctx, done, before))
	}
	return c.WithLock(ctx, func() error {
		if c.Redactions() != before {
			return workspace.ErrStale
		}
		s, err := c.Sessions.Load(done.ID)
		if err != nil {
			return err
		}
		takeStored(s, done)
		if ids := workspace.IncompleteCheckpoints(s); len(ids) > 0 {
			// The last text of a turn belongs to its last checkpoint, until another prompt has begun.
			last := s.LastCheckpointID
			if s.Phase == session.Active || last != s.Recorder.CountedIn || !slices.Contains(ids, last) {
				last = ""
			}
			if err := c.finalizer.RewriteSlots(ctx, s, new(tracking.Pending), ids, last); err != nil {
				return err
			}
			condense.TakeRest(s, last)
		}
		if s.Recorder.Expect == "" {
			s.Recorder.Incomplete = nil
		}
		return c.Sessions.Save(s)
	})
}

// keepStored takes into the session's state what was stored of its transcript before
// the time was up, so that the next child goes on from there.
func (c *Committed) keepStored(ctx context.Context, done *session.State, redactions int) error {
	const patience = time.Second
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return c.WithLock(soon, func() error {
		s, err := c.Sessions.Load(done.ID)
		if err != nil || c.Redactions() != redactions || !takeStored(s, done) {
			return err
		}
		return c.Sessions.Save(s)
	})
}

// takeStored takes over what was stored of a session's transcript, and reports
// whether that is more than the session knew of.
func takeStored(s, done *session.State) bool {
	more := s.Recorder.Cursor.Inode == done.Recorder.Cursor.Inode && done.Recorder.Stored.Raw > s.Recorder.Stored.Raw
	if more {
		s.Recorder.Stored = done.Recorder.Stored
	}
	return more
}

// awaitLast brings the session up to date with its transcript, and waits a
// moment if that lacks the message of the last stop's input. The result is
// nil if it doesn't come, in which case the next hook sees to it, or if there
// is no such session.
func (c *Committed) awaitLast(ctx context.Context, id string) (*session.State, error) {
	const looks = 10
	s, err := c.refresh(ctx, id)
	for range looks {
		if err != nil || s == nil || s.Recorder.Expect == "" {
			return s, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lag / looks):
		}
		s, err = c.refresh(ctx, id)
	}
	return nil, err
}

// refresh brings a session's state up to date with its transcript; nil if
// there is no such session. The transcript is read without the lock, and read
// again if another hook has saved the session meanwhile.
func (c *Committed) refresh(ctx context.Context, id string) (*session.State, error) {
	for attempt := 1; ; attempt++ {
		stamp := c.Stamp(id)
		s, err := c.Sessions.Load(id)
		if errors.Is(err, session.ErrNotFound) {
			return nil, nil //nolint:nilnil // see the doc comment
		}
		if err != nil {
			return nil, err
		}
		n, cursor, agents := new(tracking.Pending), s.Recorder.Cursor, encodeAgents(s)
		if err := c.transcripts.CatchUp(ctx, s, n); err != nil {
			return nil, err
		}
		if s.Recorder.Cursor == cursor && bytes.Equal(encodeAgents(s), agents) {
			return s, nil // nothing new
		}
		err = c.states.SaveUnchanged(ctx, s, n, stamp, nil)
		if !errors.Is(err, workspace.ErrStale) || attempt == workspace.MaxAttempts {
			return s, err
		}
	}
}

// encodeAgents is how far the transcripts of the session's subagents are read, to
// be compared.
func encodeAgents(s *session.State) []byte {
	data, err := json.Marshal(s.Recorder.Agents)
	if err != nil {
		return nil
	}
	return data
}

// StartCompletions lets the checkpoints of turns that may never stop have what their
// transcripts hold by now. except is the session that the hook is about.
// Whether a turn goes on is known only for an agent whose process is known.
func (c *Committed) StartCompletions(ctx context.Context, except string) {
	for _, s := range c.OwnSessions(ctx, c.Sessions.Glance) {
		agent := s.Recorder.Agent
		stopped := s.Phase == session.Active && (agent.PID == 0 || !c.Env.Alive(agent.PID, agent.Start))
		if (stopped && len(s.TurnCheckpointIDs) > 0 && s.ID != except) || (len(s.Recorder.Incomplete) > 0 && s.ID != except) {
			c.children.RequestCompletionIfIdle(ctx, s.ID)
		}
	}
}
