package turn

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// annotate prepares the annotation of a stop's snapshot.
func annotate(ctx context.Context, w *workspace.Workspace, _ *session.State, n *tracking.Pending, seen observation, t *Changes) {
	if seen.snap == nil {
		return
	}
	taken := seen.snap.taken
	n.Annotation = &tracking.Annotation{Store: seen.snap.store, Version: taken.Snapshot.Version, Unchanged: taken.Unchanged}
	if taken.Unchanged || taken.Snapshot.Parent == 0 {
		return
	}
	// The changes of others since the snapshot's parent are not removed when the turn is
	// rewound.
	count := 0
	err := snapshots.ChangesSince(ctx, seen.snap.store, taken.Snapshot, taken.Snapshot.Parent, func(c tree.Change) error {
		if count++; count > snapshots.MaxTimes {
			return snapshots.ErrTooMany
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
func AnnotateShadow(ctx context.Context, w *workspace.Workspace, s *session.State, a tracking.Annotation) {
	var old rewindstate.Session
	if a.Unchanged {
		all, err := rewindstate.List(a.Store, a.Version)
		i := slices.IndexFunc(all, func(m rewindstate.Session) bool { return m.Session == s.ID })
		if err != nil || i < 0 || all[i].Shadow == "" {
			return // there is nothing to bring up to date
		}
		old = all[i]
	}
	m := rewindstate.ReadSession(ctx, w, s)
	m.Others = a.Others
	if a.Unchanged {
		if m.Shadow == old.Shadow || m.Base != old.Base {
			return
		}
		m.Others, m.Earlier = old.Others, slices.Concat(old.Earlier, []git.OID{old.Shadow})
	}
	if err := rewindstate.Write(a.Store, a.Version, m); err != nil {
		w.Log.WarnContext(ctx, "session state not recorded with the snapshot", "session_id", s.ID, "error", err.Error())
	}
}

// markShared marks the touched files that another session, active at the same time, may have
// changed as well.
func markShared(ctx context.Context, w *workspace.Workspace, s *session.State, touched []string, t *Changes) {
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
