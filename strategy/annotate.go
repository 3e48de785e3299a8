package strategy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// Moment is what a session was at a stop, in the file session-<id>.json of the
// snapshot taken there. Going back to the snapshot makes the session that again.
type Moment struct {
	Session string `json:"session_id"`
	Turn    string `json:"turn_id,omitempty"`
	// Base is HEAD, Shadow the tip of the shadow branch, empty if there was none.
	Base   git.OID `json:"base_commit"`
	Shadow git.OID `json:"shadow,omitempty"`
	Count  int     `json:"checkpoint_count"`
	// Files are the pending files.
	Files session.Paths `json:"files_touched,omitempty"`
	// Others are files that changed since the snapshot before, but not by the
	// turn.
	Others session.Paths `json:"others,omitempty"`
	// Later reports whether the snapshot was taken after the stop, so that Others isn't
	// known.
	Later bool `json:"later,omitempty"`
	// Earlier are shadow commits before that, of the same tree.
	Earlier []git.OID `json:"earlier,omitempty"`
}

func momentPath(store *bands.Store, v bands.Version, id string) string {
	return filepath.Join(store.SnapshotDir(v), "session-"+id+".json")
}

// annotate lets the snapshot of a stop tell what the session is then, as soon
// as that is settled.
func (r *Recorder) annotate(ctx context.Context, s *session.State, n *notes, seen sight, t *turnChanges) {
	if seen.snap == nil {
		return
	}
	if seen.snap.taken.Unchanged {
		r.annotateAgain(ctx, s, n, seen.snap)
		return
	}
	others := r.foreign(ctx, seen.snap, t)
	n.refs = append(n.refs, func() error {
		m := r.moment(ctx, s)
		m.Others = others
		if err := writeMoment(seen.snap.store, seen.snap.taken.Snapshot.Version, m); err != nil {
			r.Log.WarnContext(ctx, "snapshot doesn't know its session", "session_id", s.ID, "error", err.Error())
		}
		return nil
	})
}

// annotateAgain lets a snapshot tell what the session has become since, with the
// tree as it was: another shadow checkpoint of it, on the same commit.
func (r *Recorder) annotateAgain(ctx context.Context, s *session.State, n *notes, b *bandScan) {
	n.refs = append(n.refs, func() error {
		moments, err := Moments(b.store, b.taken.Snapshot.Version)
		at := slices.IndexFunc(moments, func(m Moment) bool { return m.Session == s.ID })
		if err != nil || at < 0 {
			return nil //nolint:nilerr // a snapshot that tells nothing of the session has nothing to correct
		}
		old, m := moments[at], r.moment(ctx, s)
		if old.Shadow == "" || m.Shadow == old.Shadow || m.Base != old.Base {
			return nil
		}
		m.Others, m.Earlier = old.Others, slices.Concat(old.Earlier, []git.OID{old.Shadow})
		if err := writeMoment(b.store, b.taken.Snapshot.Version, m); err != nil {
			r.Log.WarnContext(ctx, "snapshot doesn't know its session", "session_id", s.ID, "error", err.Error())
		}
		return nil
	})
}

// moment is what the session is now.
func (r *Recorder) moment(ctx context.Context, s *session.State) Moment {
	m := Moment{Session: s.ID, Turn: s.TurnID, Base: git.OID(s.BaseCommit), Count: s.CheckpointCount, Files: slices.Clone(s.FilesTouched)}
	if s.BaseCommit == "" {
		return m
	}
	branch := checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID)
	if tip, err := newRefPlan(r.Repo).get(ctx, branch); err == nil {
		m.Shadow = tip
	}
	return m
}

func writeMoment(store *bands.Store, v bands.Version, m Moment) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return disk.WriteCache(momentPath(store, v, m.Session), append(data, '\n'), 0o600)
}

// Moments are what the sessions were when the snapshot was taken, as far as
// that is known.
func Moments(store *bands.Store, v bands.Version) ([]Moment, error) {
	entries, err := os.ReadDir(store.SnapshotDir(v))
	if err != nil {
		return nil, err
	}
	var list []Moment
	var failed []error
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "session-") || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		p := filepath.Join(store.SnapshotDir(v), e.Name())
		data, err := os.ReadFile(p)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		var m Moment
		if err := json.Unmarshal(data, &m); err != nil || session.CheckID(m.Session) != nil {
			failed = append(failed, fmt.Errorf("%s can't be read", p))
			continue
		}
		list = append(list, m)
	}
	return list, errors.Join(failed...)
}

// share marks those of the touched files that another session, at work at the
// same time, may have changed as well.
func (r *Recorder) share(ctx context.Context, s *session.State, touched []string, t *turnChanges) {
	var unnamed []string
	for _, p := range touched {
		if !t.named[p] {
			unnamed = append(unnamed, p)
		}
	}
	if len(unnamed) == 0 || !r.othersAtWork(ctx, s.ID) {
		return
	}
	s.Recorder.Shared = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.Recorder.Shared, unnamed))))
}

func (r *Recorder) othersAtWork(ctx context.Context, id string) bool {
	return slices.ContainsFunc(r.pendingHere(ctx), func(o *session.State) bool { return o.ID != id && o.Phase == session.Active })
}
