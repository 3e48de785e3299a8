package tracking

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// annotate prepares the annotation of a stop's snapshot.
func annotate(ctx context.Context, w *workspace.Workspace, _ *session.State, n *Pending, seen observation, t *TurnChanges) {
	if seen.snap == nil {
		return
	}
	taken := seen.snap.taken
	n.Annotation = &Annotation{Store: seen.snap.store, Version: taken.Snapshot.Version, Unchanged: taken.Unchanged}
	if taken.Unchanged || taken.Snapshot.Parent == 0 {
		return
	}
	// The changes of others since the snapshot's parent are not removed when the turn is
	// rewound.
	count := 0
	err := TreeChangesSince(ctx, seen.snap.store, taken.Snapshot, taken.Snapshot.Parent, func(c band.Change) error {
		if count++; count > MaxRequestTimes {
			return ErrTooMany
		}
		if c.New == nil || workspace.IsDir(c.New) || t.Named[c.Path] {
			return nil
		}
		info, err := os.Lstat(filepath.Join(w.Repo.Root, filepath.FromSlash(c.Path)))
		if err == nil && !t.During(disk.Changed(info)) {
			n.Annotation.Others = append(n.Annotation.Others, c.Path)
		}
		return nil
	})
	if err != nil {
		w.Log.InfoContext(ctx, "changes of others not determined", "error", err.Error())
	}
}

// AnnotateShadow records the session's present state with a snapshot. A failure is logged: the
// snapshot stays without its session.
func AnnotateShadow(ctx context.Context, w *workspace.Workspace, s *session.State, a Annotation) {
	var old SnapshotSession
	if a.Unchanged {
		all, err := SessionsAt(a.Store, a.Version)
		i := slices.IndexFunc(all, func(m SnapshotSession) bool { return m.Session == s.ID })
		if err != nil || i < 0 || all[i].Shadow == "" {
			return // there is nothing to bring up to date
		}
		old = all[i]
	}
	m := ReadSession(ctx, w, s)
	m.Others = a.Others
	if a.Unchanged {
		if m.Shadow == old.Shadow || m.Base != old.Base {
			return
		}
		m.Others, m.Earlier = old.Others, slices.Concat(old.Earlier, []git.OID{old.Shadow})
	}
	if err := WriteSession(a.Store, a.Version, m); err != nil {
		w.Log.WarnContext(ctx, "session state not recorded with the snapshot", "session_id", s.ID, "error", err.Error())
	}
}

// markShared marks the touched files that another session, active at the same time, may have
// changed as well.
func markShared(ctx context.Context, w *workspace.Workspace, s *session.State, touched []string, t *TurnChanges) {
	var unnamed []string
	for _, p := range touched {
		if !t.Named[p] {
			unnamed = append(unnamed, p)
		}
	}
	if len(unnamed) == 0 || !w.AnyOtherActive(ctx, s.ID) {
		return
	}
	s.Recorder.Shared = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.Recorder.Shared, unnamed))))
}
