package lifecycle

import (
	"context"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// sweepAge is the age of a temporary file whose writer is surely gone.
const sweepAge = time.Hour

// SweepTempFiles removes what writers left that were stopped.
func (m *Machine) SweepTempFiles(ctx context.Context) {
	before := m.Env.Now().Add(-sweepAge)
	for _, dir := range m.tempDirs() {
		if err := disk.SweepTemp(dir, before); err != nil {
			m.Log.WarnContext(ctx, "temporary files left", "error", err.Error())
		}
	}
}

// tempDirs are the folders that hooks write small files to.
func (m *Machine) tempDirs() []string {
	own := filepath.Join(m.Repo.Root, ".entire")
	return append(m.storeDirs(),
		m.RecordsDir(), m.journal.Dir(), filepath.Join(m.Repo.CommonDir, "hooks"), m.Sessions.Dir(), m.Sessions.SideDir(), m.Repo.GitDir, own, filepath.Join(own, "tmp"))
}

// storeDirs are the folders of the store that hooks write small files to: of the
// snapshots only the newest, as others get none any more.
func (m *Machine) storeDirs() []string {
	const newest = 20
	store, err := m.snapshots.Store()
	if err != nil {
		return nil
	}
	dirs := []string{m.snapshots.StoreDir(), m.requests.Dir()}
	versions, err := store.Versions()
	if err != nil {
		return dirs
	}
	for _, v := range versions[max(0, len(versions)-newest):] {
		dirs = append(dirs, store.SnapshotDir(v))
	}
	return dirs
}

// EndDeadTurns ends the turns of agents of this worktree that are no longer alive:
// no stop will come for them.
func (m *Machine) EndDeadTurns(ctx context.Context) {
	for _, s := range m.PendingSessions(ctx) {
		agent := s.Recorder.Agent
		if s.Phase != session.Active || agent.PID == 0 || m.Env.Alive(agent.PID, agent.Start) {
			continue
		}
		m.Recovered++
		in := workspace.Input{SessionID: s.ID}
		if err := m.Step(ctx, in, session.TurnEnd, nil); err != nil {
			m.Log.ErrorContext(ctx, "turn of a dead agent not saved", "session_id", s.ID, "error", err.Error())
		}
	}
}
