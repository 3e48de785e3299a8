package lifecycle

import (
	"context"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// EndTurn ends the turn of a session of this worktree whose agent is gone: what
// the turn changed is saved as at its stop.
func (m *Machine) EndTurn(ctx context.Context, id string) error {
	return m.Step(ctx, workspace.Input{SessionID: id}, session.TurnEnd, nil)
}

// EndSession notes that a session has ended whose worktree is gone. What it has
// pending stays so.
func (m *Machine) EndSession(ctx context.Context, id string) error {
	return m.WithLock(ctx, func() error {
		s, err := m.Sessions.Load(id)
		if err != nil {
			return err
		}
		now := m.Env.Now()
		s.Phase, s.EndedAt = session.Ended, &now
		return m.Sessions.Save(s)
	})
}
