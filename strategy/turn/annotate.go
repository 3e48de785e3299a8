package turn

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/moments"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// annotate lets the snapshot of a stop tell what the session is then, as soon
// as that is settled.
func (r *Shadows) annotate(ctx context.Context, s *session.State, n *tracking.Pending, seen sight, t *TurnChanges) {
	if seen.snap == nil {
		return
	}
	if seen.snap.taken.Unchanged {
		r.annotateAgain(ctx, s, n, seen.snap)
		return
	}
	others := r.observer.foreign(ctx, seen.snap, t)
	n.Refs = append(n.Refs, func() error {
		m := r.reader.Current(ctx, s)
		m.Others = others
		if err := moments.Write(seen.snap.store, seen.snap.taken.Snapshot.Version, m); err != nil {
			r.Log.WarnContext(ctx, "snapshot doesn't know its session", "session_id", s.ID, "error", err.Error())
		}
		return nil
	})
}

// annotateAgain lets a snapshot tell what the session has become since, with the
// tree as it was: another shadow checkpoint of it, on the same commit.
func (r *Shadows) annotateAgain(ctx context.Context, s *session.State, n *tracking.Pending, b *bandScan) {
	n.Refs = append(n.Refs, func() error {
		all, err := moments.List(b.store, b.taken.Snapshot.Version)
		at := slices.IndexFunc(all, func(m moments.Moment) bool { return m.Session == s.ID })
		if err != nil || at < 0 {
			return nil //nolint:nilerr // a snapshot that tells nothing of the session has nothing to correct
		}
		old, m := all[at], r.reader.Current(ctx, s)
		if old.Shadow == "" || m.Shadow == old.Shadow || m.Base != old.Base {
			return nil
		}
		m.Others, m.Earlier = old.Others, slices.Concat(old.Earlier, []git.OID{old.Shadow})
		if err := moments.Write(b.store, b.taken.Snapshot.Version, m); err != nil {
			r.Log.WarnContext(ctx, "snapshot doesn't know its session", "session_id", s.ID, "error", err.Error())
		}
		return nil
	})
}

// share marks those of the touched files that another session, at work at the
// same time, may have changed as well.
func (r *Shadows) share(ctx context.Context, s *session.State, touched []string, t *TurnChanges) {
	var unnamed []string
	for _, p := range touched {
		if !t.Named[p] {
			unnamed = append(unnamed, p)
		}
	}
	if len(unnamed) == 0 || !r.AnyOtherActive(ctx, s.ID) {
		return
	}
	s.Recorder.Shared = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.Recorder.Shared, unnamed))))
}
