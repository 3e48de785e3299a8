package strategy

import (
	"errors"
	"io/fs"
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
	if a.byCode(st, name, is) {
		// What was done before it in the stretch is known by name alone.
		before := *st
		before.turn = ""
		c = a.judge(&before, name, is == nil, time.Time{})
		c.person, c.unchanged = false, len(c.agents) == 0
	} else {
		c = a.judge(st, name, is == nil, at)
	}
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
	if info, err := os.Lstat(filepath.Join(r.Repo.Root, filepath.FromSlash(name))); err == nil {
		return disk.Changed(info)
	}
	return removalTime(r.Repo.Root, name)
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
