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
func (r *Machine) SweepTempFiles(ctx context.Context) {
	before := r.Env.Now().Add(-sweepAge)
	for _, dir := range r.tempDirs() {
		if err := disk.SweepTemp(dir, before); err != nil {
			r.Log.WarnContext(ctx, "temporary files left", "error", err.Error())
		}
	}
}

// tempDirs are the folders that hooks write small files to.
func (r *Machine) tempDirs() []string {
	own := filepath.Join(r.Repo.Root, ".entire")
	return append(r.storeDirs(),
		r.RecordsDir(), r.journal.Dir(), filepath.Join(r.Repo.CommonDir, "hooks"), r.Sessions.Dir(), r.Sessions.SideDir(), r.Repo.GitDir, own, filepath.Join(own, "tmp"))
}

// storeDirs are the folders of the store that hooks write small files to: of the
// snapshots only the newest, as others get none any more.
func (r *Machine) storeDirs() []string {
	const newest = 20
	store, err := r.snapshots.Store()
	if err != nil {
		return nil
	}
	dirs := []string{r.snapshots.StoreDir(), r.requests.Dir()}
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
func (r *Machine) EndDeadTurns(ctx context.Context) {
	for _, s := range r.PendingSessions(ctx) {
		agent := s.Recorder.Agent
		if s.Phase != session.Active || agent.PID == 0 || r.Env.Alive(agent.PID, agent.Start) {
			continue
		}
		r.Recovered++
		in := workspace.Input{SessionID: s.ID}
		if err := r.Step(ctx, in, session.TurnEnd, nil); err != nil {
			r.Log.ErrorContext(ctx, "turn of a dead agent not saved", "session_id", s.ID, "error", err.Error())
		}
	}
}
