package strategy

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// commitStates saves what the commit means for the sessions: those with a
// share in it begin anew behind it, and of the others the files that it
// contains are no longer pending.
func (r *Recorder) commitStates(ctx context.Context, d Decision, head git.Commit, todo []condensed) error {
	for _, c := range todo {
		s, rec := c.state, &c.state.Recorder
		step := session.Transition(s.Phase, session.GitCommit)
		s.Phase = step.Next
		if s.Phase == session.Active {
			s.TurnCheckpointIDs = addID(s.TurnCheckpointIDs, d.ID)
		}
		if !c.complete {
			rec.Incomplete = addID(rec.Incomplete, d.ID)
		}
		s.Keep(c.rest.paths)
		if err := errors.Join(r.settleSteps(ctx, s, c.notes, c.rest.paths), r.renameSteps(ctx, s, c.notes, c.rest.renamed)); err != nil {
			return err
		}
		counted := counts(s, d)
		s.CheckpointCount, s.TranscriptStart, s.LastCheckpointID = 0, rec.Cursor.Lines, string(d.ID)
		rec.Linked = lately(rec.Linked, string(d.ID))
		if len(c.rest.paths) > 0 {
			s.CheckpointCount = 1 // of the carry-forward
			for _, p := range c.rest.paths {
				if since, ok := rec.Since[p]; ok {
					s.TranscriptStart = min(s.TranscriptStart, since)
				}
			}
		}
		s.TranscriptIDAtStart = rec.LastUUID
		if counted {
			rec.CountedBefore, rec.Counted, rec.CountedIn = countedBefore(s, d), s.Total(), string(d.ID)
		}
		rec.Applied = d.Nonce
		rec.DropTasks()
		s.BaseCommit, s.AttributionBase = string(head.OID), string(head.OID)
		r.touch(s)
		if err := c.notes.save(r.Sessions, s); err != nil {
			return err
		}
	}
	return nil
}

// settle removes the files that a commit contains from the pending ones of the
// sessions without a share in it.
func (r *Recorder) settle(ctx context.Context, head git.Commit, except func(id string) bool) error {
	var waiting []*session.State
	for _, s := range r.pendingHere(ctx) {
		if len(s.FilesTouched) > 0 && !except(s.ID) {
			waiting = append(waiting, s)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	changes, err := r.committed(ctx, head)
	if err != nil {
		return err
	}
	for _, s := range waiting {
		if !slices.ContainsFunc(s.FilesTouched, func(p string) bool { _, ok := changes[p]; return ok }) {
			continue
		}
		if err := r.settleSession(ctx, s.ID, made{commit: head.OID, changes: changes}); err != nil {
			return err
		}
	}
	return nil
}

// settleSession removes the files that a commit contains from a session's
// pending ones. As with a step, the work is done without the lock, and again if
// another hook has saved the session meanwhile.
func (r *Recorder) settleSession(ctx context.Context, id string, m made) error {
	for attempt := 1; ; attempt++ {
		stamp := r.Sessions.Stamp(id)
		s, err := r.Sessions.Load(id)
		if errors.Is(err, session.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		rest, err := r.remaining(ctx, s, m, Share{Session: s.ID})
		if err != nil {
			return err
		}
		s.Keep(rest.paths)
		n := new(notes)
		if err := r.settleSteps(ctx, s, n, rest.paths); err != nil {
			return err
		}
		err = r.saveUnchanged(ctx, s, n, stamp)
		if !errors.Is(err, errStale) || attempt == attempts {
			return err
		}
		r.Retried++
	}
}

func (r *Recorder) touch(s *session.State) {
	now := r.Env.Now()
	s.LastInteraction = &now
}

func addID(ids []string, id checkpoint.ID) []string {
	if slices.Contains(ids, string(id)) {
		return ids
	}
	return append(ids, string(id))
}

// blobs answers what the commit made of the sessions' files.
func blobs(shares []Share, changes staged) map[string]git.OID {
	m := map[string]git.OID{}
	for _, share := range shares {
		for _, p := range share.Files {
			if oid := changes[p].New; oid != "" {
				m[p] = oid
			}
		}
	}
	return m
}
