package strategy

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// What follows is for the services that work on the recorder's records beside
// it: cleaning, mending.

// Locked runs do while this process holds the repository's lock.
func (r *Recorder) Locked(ctx context.Context, do func() error) error { return r.locked(ctx, do) }

// Here says whether the session belongs to this worktree.
func (r *Recorder) Here(s *session.State) bool { return r.here(s) }

// AtWork says whether the session's turn runs: it is active, and its agent, as
// far as that is known, is alive.
func (r *Recorder) AtWork(s *session.State) bool {
	agent := s.Recorder.Agent
	return s.Phase == session.Active && (agent.PID == 0 || r.Env.Alive(agent.PID, agent.Start))
}

// TranscriptCopies is the folder of transcripts that something has replaced.
func (r *Recorder) TranscriptCopies() string { return r.transcriptCopies() }

// Journal is the folder of decisions that are not carried out yet.
func (r *Recorder) Journal() string { return r.journal() }

// TempFiles are temporary files whose writers were stopped.
func (r *Recorder) TempFiles() ([]string, error) {
	dirs := r.tempDirs()
	var all []string
	failed := make([]error, 0, len(dirs))
	for _, dir := range dirs {
		paths, err := disk.TempFiles(dir, r.Env.Now().Add(-sweepAge))
		all, failed = append(all, paths...), append(failed, err)
	}
	return all, errors.Join(failed...)
}

// ShadowsOf returns the shadow commits that the sessions go back to with a
// snapshot. A session without a state goes back to nothing.
func ShadowsOf(store *bands.Store, v bands.Version, sessions map[string]bool) ([]git.OID, error) {
	moments, err := Moments(store, v)
	if err != nil {
		return nil, fmt.Errorf("sessions of %s: %w", v, err)
	}
	kept, err := readPast(store, v)
	if err != nil {
		return nil, err
	}
	var oids []git.OID
	for _, m := range append(moments, kept.Moments...) {
		if m.Shadow != "" && sessions[m.Session] {
			oids = append(oids, m.Shadow)
		}
	}
	return oids, nil
}
