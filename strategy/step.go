package strategy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-3aff656d/entire/session"
)

// attempts is how often a step is made again after another hook of the same
// session was faster.
const attempts = 5

// errStale means that a state was saved by another hook since it was loaded.
var errStale = errors.New("session state changed meanwhile")

// step carries out an event on a session: the machine's actions, then the
// hook's own part, and the state last. The work is done without the lock, which
// is held only while the state is saved; if another hook has saved it
// meanwhile, all is done again upon that.
func (r *Recorder) step(ctx context.Context, in Input, event session.Event, then func(*session.State, *notes) error) error {
	for attempt := 1; ; attempt++ {
		err := r.try(ctx, in, event, then)
		if !errors.Is(err, errStale) || attempt == attempts {
			return err
		}
		r.Retried++
	}
}

func (r *Recorder) try(ctx context.Context, in Input, event session.Event, then func(*session.State, *notes) error) error {
	stamp := r.Sessions.Stamp(in.SessionID)
	s, err := r.load(ctx, in)
	if err != nil {
		return err
	}
	n := new(notes)
	next := session.Transition(s.Phase, event)
	for _, action := range next.Actions {
		if err := r.act(ctx, s, n, in, action); err != nil {
			return fmt.Errorf("%s: %w", action, err)
		}
	}
	if then != nil {
		if err := then(s, n); err != nil {
			return err
		}
	}
	s.Phase = next.Next
	// The state counts on the objects. Where refs move they are synced with those
	// that are written for the refs, under the lock, as each wait for the disk
	// costs more than the files in it.
	if len(n.refs) == 0 {
		if err := r.Repo.SyncObjects(); err != nil {
			return err
		}
	}
	err = r.saveUnchanged(ctx, s, n, stamp)
	if err == nil && n.snapshot != nil {
		r.leaveToChild(ctx, s.ID, *n.snapshot)
	}
	if err == nil && n.turnSaved {
		err = r.unmarkTurn(s.ID, n.prompted)
	}
	if err == nil && (n.unstored || len(s.Recorder.Incomplete) > 0) {
		r.detach(ctx, s.ID)
	}
	return err
}

// saveUnchanged carries out what the notes have for refs and side files, and saves
// the session's state, under the lock. If another hook has saved the session
// since it had the stamp, nothing is done and the error is errStale.
func (r *Recorder) saveUnchanged(ctx context.Context, s *session.State, n *notes, stamp string) error {
	return r.locked(ctx, func() error {
		if r.Sessions.Stamp(s.ID) != stamp {
			return errStale
		}
		for _, move := range n.refs {
			if err := move(); err != nil {
				return err
			}
		}
		if err := r.Repo.SyncObjects(); err != nil { // nothing, where refs moved
			return err
		}
		return n.save(r.Sessions, s)
	})
}

// load returns the session's state, a new one if there is none. One that can't
// be read is set aside: the transcript tells most of it again.
func (r *Recorder) load(ctx context.Context, in Input) (*session.State, error) {
	if forgotten, err := r.IsForgotten(in.SessionID); err != nil || forgotten {
		return nil, errors.Join(err, fmt.Errorf("session %s: %w", in.SessionID, ErrForgotten))
	}
	s, err := r.Sessions.Load(in.SessionID)
	if errors.Is(err, session.ErrCorrupt) {
		s, err = r.setAside(ctx, in.SessionID, err)
	}
	if errors.Is(err, session.ErrNotFound) {
		s, err = r.newState(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	s.CLIVersion = r.Env.Version
	if in.Transcript != "" {
		if s.TranscriptPath == "" {
			s.Recorder.Prompts = 0 // those that hooks were given are in it
		}
		s.TranscriptPath = in.Transcript
	}
	if !r.here(s) && r.worktreeGone(s) {
		s.Keep(nil) // gone with the worktree
	}
	if !r.here(s) && len(s.FilesTouched) == 0 {
		s.WorktreePath, s.WorktreeID = r.Repo.Root, r.Repo.WorktreeID
	}
	return s, nil
}

// worktreeGone reports whether the session's linked worktree was removed.
func (r *Recorder) worktreeGone(s *session.State) bool {
	if s.WorktreeID == "" {
		return false
	}
	for _, path := range []string{r.gitDirOf(s.WorktreeID), s.WorktreePath} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// setAside renames a damaged state, and loads the one that has come into its
// place meanwhile, if one has.
func (r *Recorder) setAside(ctx context.Context, id string, damage error) (s *session.State, err error) {
	failed := r.locked(ctx, func() error {
		aside, failed := r.Sessions.SetAside(id)
		if aside != "" {
			r.Log.ErrorContext(ctx, "damaged session state set aside", "path", aside, "error", damage.Error())
		}
		s, err = r.Sessions.Load(id)
		return failed
	})
	if failed != nil {
		return nil, errors.Join(damage, failed)
	}
	return s, err
}

func (r *Recorder) newState(ctx context.Context, in Input) (*session.State, error) {
	head, _, err := r.head(ctx)
	if err != nil {
		return nil, fmt.Errorf("read HEAD: %w", err)
	}
	from, err := r.Sessions.Forgotten(in.SessionID)
	if err != nil {
		return nil, fmt.Errorf("read what is forgotten: %w", err)
	}
	return &session.State{
		ID: in.SessionID, BaseCommit: string(head.OID), AttributionBase: string(head.OID),
		WorktreePath: r.Repo.Root, WorktreeID: r.Repo.WorktreeID,
		StartedAt: r.Env.Now(), Phase: session.Idle, AgentType: AgentType,
		TranscriptStart: from.Lines, Recorder: session.Recorder{Cursor: from},
	}, nil
}

// act carries out one action of the machine.
func (r *Recorder) act(ctx context.Context, s *session.State, n *notes, in Input, action session.Action) error {
	switch action {
	case session.Touch:
		r.touch(s)
	case session.ClearEnded:
		s.EndedAt = nil
	case session.MarkEnded:
		now := r.Env.Now()
		s.EndedAt = &now
	case session.SaveTurn:
		return r.saveTurn(ctx, s, n, in)
	case session.Finalize:
		if in.hurried { // somebody waits: a child does it
			s.Recorder.Incomplete = unfinished(s)
			return nil
		}
		return r.finalize(ctx, s, n)
	case session.BeginTurn, session.Condense, session.CondenseIfTouched:
		// What is left of them is the caller's own part.
	}
	return nil
}
