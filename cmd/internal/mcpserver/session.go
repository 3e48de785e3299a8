package mcpserver

import (
	"cmp"
	"context"
	"fmt"

	"github.com/seed-3aff656d/entire/session"
)

// here runs do for a call of the model, in the worktree and for the session of its caller.
// named is the session that the call itself names, if any.
func (s *Server) here(ctx context.Context, c call, named string, do func(call, string) (result, error)) (result, error) {
	at, err := s.caller(ctx, named)
	if err != nil {
		return nil, err
	}
	return s.in(ctx, c, at, func(c call) (result, error) { return do(c, at.SessionID) })
}

// caller returns the origin of a call of the model: the session of the agent process that
// started this server, the most recent one if there are several; else the session named by
// the environment; else only the folder.
func (s *Server) caller(ctx context.Context, named string) (Place, error) {
	at := Place{Dir: s.Dir, SessionID: named}
	if named != "" {
		if err := session.CheckID(named); err != nil {
			return at, fmt.Errorf("session_id: %w", err)
		}
		return at, nil
	}
	p, err := s.Open(ctx, at)
	if err != nil {
		return at, err
	}
	states, _ := p.Sessions.Pending() // hooks report unreadable states
	var last, given *session.State
	for _, of := range states {
		switch {
		case of.Phase == session.Ended:
		case of.Recorder.Agent.PID == s.Parent() && (last == nil || of.LastActive().After(last.LastActive())):
			last = of
		case of.ID == s.Session:
			given = of
		}
	}
	if of := cmp.Or(last, given); of != nil {
		at.SessionID = of.ID
		if of.WorktreePath != "" {
			at.Dir = of.WorktreePath
		}
	}
	return at, p.Close()
}
