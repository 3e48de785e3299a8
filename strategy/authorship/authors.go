package authorship

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// WorktreeAuthors determines who changed the files of a worktree since a snapshot: sessions of
// agents, by their ids, and persons. A change between two snapshots is a turn's if the later
// snapshot was taken at its stop. Any other change is a session's if its transcript or its steps
// show it, else a person's.
type WorktreeAuthors struct {
	Workspace *workspace.Workspace
	Store     *bands.Store
	changes   changeLog
	byAgent   []string             // paths that agents changed, sorted, nil until needed
	Records   []*tracking.Activity // of sessions that were at work since
	snapped   map[string]bool      // turns with a snapshot of their changes
	last      tracking.Interval    // from the newest snapshot until now
	newest    bands.Snapshot
	tree      band.Loader // of the newest snapshot
	close     []func() error
	Sparse    map[string]bool // tracked files of a sparse checkout, which git adds and removes
	partial   []partialRewind // since target
}

// AuthorsSince reads the snapshots of the target's worktree that are newer than target. The caller
// must close the result.
func AuthorsSince(ctx context.Context, w *workspace.Workspace, store *bands.Store, target bands.Snapshot) (_ *WorktreeAuthors, err error) {
	a := &WorktreeAuthors{Workspace: w, Store: store, snapped: map[string]bool{}, newest: target}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	versions, err := store.Versions()
	if err != nil {
		return nil, err
	}
	if a.Records, err = tracking.ActivitySince(ctx, w, target); err != nil {
		return nil, err
	}
	var later []bands.Snapshot
	partly := tracking.PartialLineage(w.Repo.WorktreeID)
	for _, v := range versions {
		if v <= target.Version {
			continue
		}
		s, err := store.Snapshot(v)
		switch {
		case err != nil:
		case s.Lineage == target.Lineage:
			later = append(later, s)
		case s.Lineage == partly && s.Causality.Restores != 0:
			changed, err := restore.ReadChanged(ctx, store, v, v, nil, nil)
			if err != nil {
				w.Log.InfoContext(ctx, "the files that a rewind restored are unknown", "version", v.String(), "error", err.Error())
				continue
			}
			a.partial = append(a.partial, partialRewind{s.Created, changed})
		}
	}
	for _, s := range append([]bands.Snapshot{target}, later...) {
		a.snapped[s.Causality.Turn] = a.snapped[s.Causality.Turn] || s.Cause == bands.Auto || s.Late
	}
	for _, s := range later {
		if err := a.compare(ctx, a.newest, s); err != nil {
			return nil, err
		}
		a.newest = s
	}
	isOpen := slices.ContainsFunc(a.Records, func(act *tracking.Activity) bool { return act.Active })
	a.last = tracking.Interval{From: a.newest.Created, Between: !isOpen, Snapped: a.snapped, Restored: a.restoredBy(ctx, a.newest)}
	_, a.last.Interrupted = bands.InterruptedRestore(store, target.Lineage)
	records, reader := store.Loader(a.newest)
	a.tree = records
	a.close = append(a.close, reader.Close)
	// A tracked file that a snapshot lacks may have been outside the cone of a sparse checkout.
	a.Sparse = map[string]bool{}
	if _, err := os.Lstat(filepath.Join(w.Repo.GitDir, "info", "sparse-checkout")); err != nil {
		return a, nil // not sparse
	}
	tracked, err := git.TrackedPaths(ctx, w.Repo)
	for _, p := range tracked {
		a.Sparse[p] = true
	}
	return a, err
}

// Close closes the snapshots that were opened.
func (a *WorktreeAuthors) Close() error {
	failed := make([]error, 0, len(a.close))
	for _, end := range a.close {
		failed = append(failed, end())
	}
	a.close = nil
	return errors.Join(failed...)
}

// compare adds the changes from one snapshot to the next.
func (a *WorktreeAuthors) compare(ctx context.Context, from, to bands.Snapshot) error {
	st := tracking.Interval{
		From: from.Created, To: to.Created, Until: to.Version, Others: map[string]bool{},
		Late: to.Late, Between: to.Cause == bands.Prompt && !to.Late, Begun: to.Causality.Turn, Snapped: a.snapped,
		Restored: a.restoredBy(ctx, from),
	}
	if to.Causality.Agent != "" && to.Cause != bands.Prompt && to.Cause != bands.Rescue && to.Parent == from.Version {
		st.Turn = to.Causality.Session
	}
	recorded, err := tracking.SessionsAt(a.Store, to.Version)
	if err != nil {
		a.Workspace.Log.WarnContext(ctx, "session of the snapshot unknown", "version", to.Version.String(), "error", err.Error())
	}
	st.OthersUnknown = true
	for _, m := range recorded {
		st.OthersUnknown = st.OthersUnknown && (m.Session != st.Turn || m.Later)
		for _, p := range m.Others {
			st.Others[p] = true
		}
	}
	records, reader := a.Store.Loader(to)
	err = a.Store.Changes(ctx, from, to, func(c band.Change) error {
		if !matters(c) {
			return nil
		}
		at := time.Time{}
		root, _ := to.Tree.Ref()
		switch {
		case c.Kind == band.AttributesChanged: // they have no time of their own
		case c.New != nil:
			at = c.New.Attr.Mtime
		default:
			at = dirTime(records, band.Entry{Kind: band.Dir, Content: root}, c.Path)
		}
		if what, changed := a.changeIn(&st, c.Path, c.Old, c.New, at); changed {
			a.changes.add(c.Path, what)
		}
		return nil
	})
	return errors.Join(err, reader.Close())
}

// matters reports whether a rewind would revert the change. It ignores changes of times alone, the
// attributes of directories, and paths that one of the snapshots doesn't record.
func matters(c band.Change) bool {
	switch c.Kind {
	case band.UnknownChange:
		return false
	case band.AttributesChanged:
		return !workspace.IsDir(c.New) && (c.Old.Attr.Mode != c.New.Attr.Mode || c.Old.Attr.UID != c.New.Attr.UID || c.Old.Attr.GID != c.New.Attr.GID)
	default:
		return c.Path != ""
	}
}

// Touched returns the paths that agents changed since the target and git doesn't ignore, and the
// sessions' pending files.
func (a *WorktreeAuthors) Touched(ctx context.Context) ([]string, error) {
	var paths []string
	for p := range a.changes.with(func(c AuthoredChange) bool { return len(c.Agents) > 0 && !c.dir }) {
		paths = append(paths, p)
	}
	for _, act := range a.Records {
		paths = append(paths, slices.Collect(maps.Keys(act.Edits))...)
	}
	for _, s := range a.Workspace.AllSessions(ctx) {
		paths = append(paths, s.FilesTouched...)
	}
	ignored, err := git.IgnoredPaths(ctx, a.Workspace.Repo, paths)
	if err != nil {
		return nil, err
	}
	slices.Sort(ignored)
	paths = slices.DeleteFunc(paths, func(p string) bool { return workspace.ContainsPath(ignored, p) })
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// HasAgentsBelow reports whether an agent changed a path below a directory, or an edit tool of an
// agent named one.
func (a *WorktreeAuthors) HasAgentsBelow(dir string) bool {
	if a.byAgent == nil {
		a.byAgent = slices.Collect(a.changes.with(func(c AuthoredChange) bool { return len(c.Agents) > 0 }))
		for _, act := range a.Records {
			a.byAgent = slices.AppendSeq(a.byAgent, maps.Keys(act.Edits))
		}
		slices.Sort(a.byAgent)
	}
	i, _ := slices.BinarySearch(a.byAgent, dir+"/")
	return i < len(a.byAgent) && strings.HasPrefix(a.byAgent[i], dir+"/")
}

// restoredBy returns the tree that was restored by the rewind whose rescue snapshot is given. It
// returns nil if the snapshot is no rescue or the restored snapshot no longer exists.
func (a *WorktreeAuthors) restoredBy(ctx context.Context, rescue bands.Snapshot) *tracking.RestoredTree {
	v := rescue.Causality.Restores
	if v == 0 && rescue.Cause == bands.Rescue {
		// Rescues of earlier versions of the program record the version only in their message.
		if named, err := bands.ParseVersion(rescue.Message[strings.LastIndexByte(rescue.Message, ' ')+1:]); err == nil {
			v = named
		}
	}
	if v == 0 {
		return nil
	}
	s, err := a.Store.Snapshot(v)
	root, ok := s.Tree.Ref()
	if err != nil || !ok {
		a.Workspace.Log.InfoContext(ctx, "the files that a rewind restored are unknown", "version", rescue.Version.String(), "restored", v.String())
		return nil
	}
	records, reader := a.Store.Loader(s)
	a.close = append(a.close, reader.Close)
	return &tracking.RestoredTree{Version: v, Root: band.Entry{Kind: band.Dir, Content: root}, Records: records}
}

// partialRewind is a rewind, undo or redo of the files of a partial snapshot.
type partialRewind struct {
	at      time.Time
	changed *restore.ChangedList
}
