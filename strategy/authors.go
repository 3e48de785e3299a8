package strategy

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// authors knows who changed the files of a worktree since a snapshot: sessions of
// agents, by their ids, and persons. Between two snapshots a file is a turn's if
// the later one was taken at its stop; whatever else changed is a session's if
// its transcript or its steps say so, and a person's if not.
type authors struct {
	r       *Recorder
	store   *bands.Store
	changes map[string][]authoredChange
	records []*activity     // of sessions that were at work since
	snapped map[string]bool // turns with a snapshot of what they changed
	last    stretch         // from the newest snapshot until now
	newest  bands.Snapshot
	tree    tree.Loader // of the newest snapshot
	close   []func() error
	sparse  map[string]bool // tracked files of a sparse checkout: git brings and takes them
	code    []codeDone      // rewinds without snapshots since
}

// stretch is the time between two snapshots, or from the newest one until now.
type stretch struct {
	from, to time.Time // to is zero for now
	until    bands.Version
	// turn is the session at whose stop the later snapshot was taken, others what
	// changed and isn't of its turn.
	turn   string
	others map[string]bool
	// untold reports whether others isn't known, so that the times of files decide.
	untold bool
	// between reports whether no turn was under way: what still runs in the background
	// proves nothing. late reports whether the snapshot was taken after the turn began
	// which it stands before.
	between, late bool
	// begun is the turn before which the later snapshot was taken or meant to be,
	// snapped the turns of whose changes there is a snapshot.
	begun   string
	snapped map[string]bool
	// restored is the tree that a rewind made at the beginning of it, nil if none did.
	restored *restoredTree
	// interrupted reports whether it was interrupted: a file that it was creating may be
	// there in part.
	interrupted bool
}

// authorsSince looks through the snapshots that came after target in its worktree.
// The caller closes the result.
func (r *Recorder) authorsSince(ctx context.Context, store *bands.Store, target bands.Snapshot) (_ *authors, err error) {
	a := &authors{r: r, store: store, changes: map[string][]authoredChange{}, snapped: map[string]bool{}, newest: target}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	versions, err := store.Versions()
	if err != nil {
		return nil, err
	}
	if a.records, err = r.activitySince(ctx, target); err != nil {
		return nil, err
	}
	a.code = r.codeSince(target.Created)
	var later []bands.Snapshot
	for _, v := range versions {
		if v <= target.Version {
			continue
		}
		if s, err := store.Snapshot(v); err == nil && s.Lineage == target.Lineage {
			later = append(later, s)
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
	a.last = stretch{from: a.newest.Created, between: !a.turnOpen(), snapped: a.snapped, restored: a.restoredBy(ctx, a.newest)}
	_, a.last.interrupted = store.Interrupted(target.Lineage)
	records, reader := store.Loader(a.newest)
	a.tree = records
	a.close = append(a.close, reader.Close)
	a.sparse, err = r.sparseFiles(ctx)
	return a, err
}

// Close closes the snapshots that were opened.
func (a *authors) Close() error {
	failed := make([]error, 0, len(a.close))
	for _, end := range a.close {
		failed = append(failed, end())
	}
	a.close = nil
	return errors.Join(failed...)
}

// turnOpen reports whether a turn is under way.
func (a *authors) turnOpen() bool {
	return slices.ContainsFunc(a.records, func(act *activity) bool { return act.active })
}

// compare takes up what changed from one snapshot to the next.
func (a *authors) compare(ctx context.Context, from, to bands.Snapshot) error {
	st := stretch{
		from: from.Created, to: to.Created, until: to.Version, others: map[string]bool{},
		late: to.Late, between: to.Cause == bands.Prompt && !to.Late, begun: to.Causality.Turn, snapped: a.snapped,
		restored: a.restoredBy(ctx, from),
	}
	if to.Causality.Agent != "" && to.Cause != bands.Prompt && to.Cause != bands.Rescue && to.Parent == from.Version {
		st.turn = to.Causality.Session
	}
	moments, err := Moments(a.store, to.Version)
	if err != nil {
		a.r.Log.WarnContext(ctx, "session of the snapshot unknown", "version", to.Version.String(), "error", err.Error())
	}
	st.untold = true
	for _, m := range moments {
		st.untold = st.untold && (m.Session != st.turn || m.Later)
		for _, p := range m.Others {
			st.others[p] = true
		}
	}
	records, reader := a.store.Loader(to)
	err = a.store.Changes(ctx, from, to, func(c tree.Change) error {
		if !matters(c) {
			return nil
		}
		at := time.Time{}
		root, _ := to.Tree.Ref()
		switch {
		case c.Kind == tree.Attributes: // which have no time of their own
		case c.New != nil:
			at = c.New.Attr.Mtime
		default:
			at = dirTime(records, tree.Entry{Kind: tree.Dir, Content: root}, c.Path)
		}
		a.note(&st, c.Path, c.Old, c.New, at)
		return nil
	})
	return errors.Join(err, reader.Close())
}

// matters leaves out what a rewind doesn't bring back: times alone, the attributes
// of directories, and what one of the snapshots doesn't hold.
func matters(c tree.Change) bool {
	switch c.Kind {
	case tree.UnknownChange:
		return false
	case tree.Attributes:
		return !isDir(c.New) && (c.Old.Attr.Mode != c.New.Attr.Mode || c.Old.Attr.UID != c.New.Attr.UID || c.Old.Attr.GID != c.New.Attr.GID)
	default:
		return c.Path != ""
	}
}

// touched lists the paths that agents changed since the target and git doesn't
// ignore, with the sessions' pending files.
func (a *authors) touched(ctx context.Context) ([]string, error) {
	var paths []string
	for p, list := range a.changes {
		if slices.ContainsFunc(list, func(c authoredChange) bool { return len(c.agents) > 0 && !c.dir }) {
			paths = append(paths, p)
		}
	}
	for _, act := range a.records {
		paths = append(paths, slices.Collect(maps.Keys(act.edits))...)
	}
	for _, s := range a.r.sessionsHere(ctx) {
		paths = append(paths, s.FilesTouched...)
	}
	ignored, err := a.r.Repo.Ignored(ctx, paths)
	if err != nil {
		return nil, err
	}
	slices.Sort(ignored)
	paths = slices.DeleteFunc(paths, func(p string) bool { return among(ignored, p) })
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// sparseFiles are the tracked files of a sparse checkout, none of any other: one
// that a snapshot lacks may only have been outside the cone.
func (r *Recorder) sparseFiles(ctx context.Context) (map[string]bool, error) {
	if _, err := os.Lstat(filepath.Join(r.Repo.GitDir, "info", "sparse-checkout")); err != nil {
		return map[string]bool{}, nil //nolint:nilerr // it isn't sparse
	}
	tracked, err := r.Repo.Tracked(ctx)
	if err != nil {
		return nil, err
	}
	files := make(map[string]bool, len(tracked))
	for _, p := range tracked {
		files[p] = true
	}
	return files, nil
}
