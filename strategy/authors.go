package strategy

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/disk"
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
}

// authoredChange is what became of a path between two snapshots, and by whom.
type authoredChange struct {
	until bands.Version // the later snapshot, 0 for now
	// back is the version to whose file a rewind went back before that, 0 if none
	// did. unchanged reports whether nothing else happened.
	back      bands.Version
	unchanged bool
	agents    []string
	person    bool
	made      bool // the path wasn't there before
	dir       bool
}

// authorship is who changed a path since a snapshot.
type authorship struct {
	agents []string // sessions, sorted
	person bool
	// personMade reports whether a person made the path, and agents changed it at most.
	personMade bool
}

// byPerson reports whether nobody but a person changed the path.
func (a *authorship) byPerson() bool { return a.person && len(a.agents) == 0 }

// byBoth reports whether an agent and a person changed the path.
func (a *authorship) byBoth() bool { return a.person && len(a.agents) > 0 }

// add takes up a change that came after those before.
func (a *authorship) add(c authoredChange, first bool) {
	a.agents = slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.agents, c.agents))))
	a.person = a.person || c.person
	if first && c.made && len(c.agents) == 0 {
		a.personMade = true
	}
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

// restoredTree is what a rewind made of the tree that its rescue holds.
type restoredTree struct {
	version bands.Version
	root    tree.Entry
	records *tree.Records
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

// note takes up a path that changed in a stretch, at the time given if it is known.
func (a *authors) note(st *stretch, name string, was, is *tree.Entry, at time.Time) {
	c, changed := a.changeIn(st, name, was, is, at)
	if changed {
		a.changes[name] = append(a.changes[name], c)
	}
}

// changeIn is what became of a path in a stretch, false if nothing did.
func (a *authors) changeIn(st *stretch, name string, was, is *tree.Entry, at time.Time) (c authoredChange, changed bool) {
	back := bands.Version(0)
	if st.restored != nil {
		wanted := st.restored.find(name)
		begun := st.interrupted && was == nil && wanted != nil
		if begun || sameFile(wanted, is) { // the rewind made it so
			return authoredChange{until: st.until, back: st.restored.version, unchanged: true}, true
		}
		if !sameFile(wanted, was) { // it made it something else, which was changed then
			back = st.restored.version
		}
	}
	c = a.judge(st, name, is == nil, at)
	c.made, c.dir, c.back = was == nil, isDir(was) || isDir(is), back
	return c, true
}

// changesUntil are the changes that made a path what it was at a version: those
// since the last rewind of it, and before them those of the version that it went
// back to.
func (a *authors) changesUntil(name string, v bands.Version) []authoredChange {
	all := a.changes[name]
	end := len(all)
	for end > 0 && all[end-1].until > v {
		end--
	}
	from := end - 1
	for from >= 0 && all[from].back == 0 {
		from--
	}
	var list []authoredChange
	if from >= 0 {
		list = a.changesUntil(name, all[from].back)
	}
	for _, c := range all[max(from, 0):end] {
		if !c.unchanged {
			list = append(list, c)
		}
	}
	return list
}

// judge decides who made a change.
func (a *authors) judge(st *stretch, name string, gone bool, at time.Time) authoredChange {
	const before = 2 * time.Second // a snapshot's time is not that of each of its files
	c := authoredChange{until: st.until}
	known := !at.IsZero() && !at.Before(st.from.Add(-before))
	surely := known && at.After(st.from.Add(slack))
	timed, explained, behind := true, false, false
	for _, act := range a.records {
		named, covers := act.names(name, st, at)
		during, background := act.wrote(st, at)
		background = background && !during
		switch {
		case named, known && during, known && background && !st.between, act.stepped(name, st):
			c.agents = append(c.agents, act.session)
		}
		explained = explained || covers || during
		behind = behind || background
		if act.session == st.turn {
			timed = act.timed
		}
	}
	if st.turn != "" && !st.others[name] && !slices.Contains(c.agents, st.turn) {
		timed = timed && a.has(st.turn)
		if !st.untold || gone || !surely || explained || behind || !timed {
			c.agents = append(c.agents, st.turn)
		}
	}
	if len(c.agents) == 0 && (!known || gone) {
		c.agents = a.mentioned(name, st)
	}
	switch {
	case len(c.agents) == 0:
		c.person = true
	case !surely || gone || explained || !timed:
	case st.turn != "":
		c.person = !behind
	default:
		c.person = true
	}
	c.person = c.person || st.late && st.restored == nil && a.personStepped(name, st)
	return c
}

// has reports whether the transcript of a session could be read.
func (a *authors) has(session string) bool {
	return slices.ContainsFunc(a.records, func(act *activity) bool { return act.session == session && act.timed })
}

// mentioned lists the sessions of which a command in the stretch names a path.
func (a *authors) mentioned(name string, st *stretch) []string {
	var found []string
	for _, act := range a.records {
		if !st.between && act.mentions(name, st) {
			found = append(found, act.session)
		}
	}
	return found
}

// named reports whether any tool call since names a path.
func (a *authors) named(name string) bool {
	all := &stretch{}
	return slices.ContainsFunc(a.records, func(act *activity) bool {
		return len(act.edits[name]) > 0 || act.mentions(name, all)
	})
}

func (a *authors) personStepped(name string, st *stretch) bool {
	return slices.ContainsFunc(a.records, func(act *activity) bool {
		return slices.ContainsFunc(act.personSteps[name], func(m stepMark) bool { return m.turn == st.begun })
	})
}

// holds reports whether a time lies in the stretch.
func (st *stretch) holds(at time.Time) bool {
	return !at.Before(st.from.Add(-slack)) && (st.to.IsZero() || !at.After(st.to.Add(slack)))
}

// who is who changed a path since the target, given what is there now.
func (a *authors) who(name string, now *tree.Entry) authorship {
	list := a.changesUntil(name, a.newest.Version)
	if c, changed := a.sinceNewest(name, now); changed {
		if c.back != 0 {
			list = a.changesUntil(name, c.back)
		}
		if !c.unchanged {
			list = append(list, c)
		}
	}
	var w authorship
	for i, c := range list {
		w.add(c, i == 0)
	}
	return w
}

// sinceNewest is the change of a path since the newest snapshot, false if there
// was none.
func (a *authors) sinceNewest(name string, now *tree.Entry) (authoredChange, bool) {
	root, ok := a.newest.Tree.Ref()
	if !ok {
		return authoredChange{}, false
	}
	var was *tree.Entry
	switch e, err := tree.Lookup(a.tree, root, name); {
	case err == nil:
		was = &e
	case !errors.Is(err, fs.ErrNotExist):
		return authoredChange{}, false // it isn't known what it was
	}
	if sameFile(was, now) || sameStat(was, now) {
		return authoredChange{}, false
	}
	return a.changeIn(&a.last, name, was, now, a.r.changeTime(name))
}

// sameStat reports whether two entries are of a file that nobody wrote between
// them: the parts of a large one may be stored in two ways.
func sameStat(a, b *tree.Entry) bool {
	return a != nil && b != nil && a.Kind == b.Kind && a.Size == b.Size && a.Attr.Mode == b.Attr.Mode && a.Attr.Mtime.Equal(b.Attr.Mtime)
}

// changeTime is when a path of the worktree changed last; of one that is gone,
// when the nearest directory that is there did.
func (r *Recorder) changeTime(name string) time.Time {
	for {
		info, err := os.Lstat(filepath.Join(r.Repo.Root, filepath.FromSlash(name)))
		if err == nil {
			return disk.Changed(info)
		}
		if name == "." {
			return time.Time{}
		}
		name = path.Dir(name)
	}
}

// dirTime is the time of the nearest directory above a path that a tree has.
func dirTime(l tree.Loader, root tree.Entry, name string) time.Time {
	for name != "." {
		name = path.Dir(name)
		in := strings.TrimPrefix(name, ".")
		e, err := tree.Lookup(l, root.Content, in)
		if err == nil && e.Kind == tree.Dir {
			if dir, err := l.Directory(e.Content); err == nil {
				return dir.Attr.Mtime
			}
		}
	}
	return time.Time{}
}

// sameFile reports whether two entries hold the same, whatever their times.
func sameFile(a, b *tree.Entry) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if a.Kind == tree.Dir || b.Kind == tree.Dir {
		return a.Kind == b.Kind
	}
	return a.Kind == b.Kind && a.Attr.Mode == b.Attr.Mode && a.Size == b.Size && a.Target == b.Target && a.Content.Hash == b.Content.Hash
}

// find is what the rewind's target has at a path, nil if nothing or if it isn't
// known.
func (t *restoredTree) find(name string) *tree.Entry {
	e, err := tree.Lookup(t.records, t.root.Content, name)
	if err != nil {
		return nil
	}
	return &e
}

// restoredBy is the tree that the rewind made whose rescue a snapshot is, nil if
// it is none or the target has gone.
func (a *authors) restoredBy(ctx context.Context, rescue bands.Snapshot) *restoredTree {
	v := restoredVersion(rescue)
	if v == 0 {
		return nil
	}
	s, err := a.store.Snapshot(v)
	root, ok := s.Tree.Ref()
	if err != nil || !ok {
		a.r.Log.InfoContext(ctx, "what a rewind restored isn't known", "version", rescue.Version.String(), "restored", v.String())
		return nil
	}
	records, reader := a.store.Loader(s)
	a.close = append(a.close, reader.Close)
	return &restoredTree{version: v, root: tree.Entry{Kind: tree.Dir, Content: root}, records: records}
}

// restoredVersion is what a rescue's restore made the tree. Rescues of earlier
// versions of the program say so in their message alone.
func restoredVersion(s bands.Snapshot) bands.Version {
	if s.Cause != bands.Rescue || s.Causality.Restores != 0 {
		return s.Causality.Restores
	}
	v, err := bands.ParseVersion(s.Message[strings.LastIndexByte(s.Message, ' ')+1:])
	if err != nil {
		return 0
	}
	return v
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
