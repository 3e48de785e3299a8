// Package authorship determines who changed the files of a worktree since a snapshot, and who wrote
// the lines of a commit: sessions of agents, by their steps and transcripts, or a person. It writes
// only the attribution in session states.
package authorship

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
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// AuthoredChange is the change of a path between two snapshots, with its authors.
type AuthoredChange struct {
	until bands.Version // the later snapshot, 0 for now
	// back is the version to which a rewind restored the file before the change, 0 if none did.
	// unchanged reports whether the rewind was the only change.
	back      bands.Version
	unchanged bool
	Agents    []string
	person    bool
	made      bool // the path didn't exist before
	dir       bool
}

// Authorship records who changed a path since a snapshot.
type Authorship struct {
	Agents []string // sessions, sorted
	person bool
	// PersonMade reports whether a person created the path. Agents may have changed it later.
	PersonMade bool
}

// ByPerson reports whether only a person changed the path.
func (a *Authorship) ByPerson() bool { return a.person && len(a.Agents) == 0 }

// ByBoth reports whether an agent and a person changed the path.
func (a *Authorship) ByBoth() bool { return a.person && len(a.Agents) > 0 }

// changeIn returns the change of a path in an interval.
func (a *WorktreeAuthors) changeIn(st *tracking.Interval, name string, was, is *band.Entry, at time.Time) (c AuthoredChange, changed bool) {
	back := bands.Version(0)
	if st.Restored != nil {
		wanted := st.Restored.Find(name)
		begun := st.Interrupted && was == nil && wanted != nil
		if begun || sameFile(wanted, is) { // the rewind restored it
			return AuthoredChange{until: st.Until, back: st.Restored.Version, unchanged: true}, true
		}
		if !sameFile(wanted, was) { // the rewind restored another state, which was changed then
			back = st.Restored.Version
		}
	}
	isPartial := func(p partialRewind) bool { // it made the path as it was at the interval's end
		return tracking.Span{Start: p.at, End: p.at}.Within(st) && p.changed.Made(name, is)
	}
	if slices.ContainsFunc(a.partial, isPartial) {
		// Earlier changes in the interval are known only by name.
		before := *st
		before.Turn = ""
		c = a.judge(&before, name, is == nil, time.Time{})
		c.person, c.unchanged = false, len(c.Agents) == 0
	} else {
		c = a.judge(st, name, is == nil, at)
	}
	c.made, c.dir, c.back = was == nil, workspace.IsDir(was) || workspace.IsDir(is), back
	return c, true
}

// changesUntil returns the changes that led to the state of a path at a version: those since its
// last rewind, preceded by those of the version that the rewind restored.
func (a *WorktreeAuthors) changesUntil(name string, v bands.Version) []AuthoredChange {
	all := a.changes.of(name)
	end := len(all)
	for end > 0 && all[end-1].until > v {
		end--
	}
	from := end - 1
	for from >= 0 && all[from].back == 0 {
		from--
	}
	var list []AuthoredChange
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

// judge determines the authors of a change.
func (a *WorktreeAuthors) judge(st *tracking.Interval, name string, gone bool, at time.Time) AuthoredChange {
	const before = 2 * time.Second // a snapshot's time is not that of each of its files
	c := AuthoredChange{until: st.Until}
	known := !at.IsZero() && !at.Before(st.From.Add(-before))
	surely := known && at.After(st.From.Add(workspace.ClockSlack))
	timed, explained, behind := true, false, false
	for _, act := range a.Records {
		named, covers := act.Names(name, st, at)
		during, background := act.Wrote(st, at)
		background = background && !during
		switch {
		case named, known && during, known && background && !st.Between, act.Stepped(name, st):
			c.Agents = append(c.Agents, act.Session)
		}
		explained = explained || covers || during
		behind = behind || background
		if act.Session == st.Turn {
			timed = act.Timed
		}
	}
	if st.Turn != "" && !st.Others[name] && !slices.Contains(c.Agents, st.Turn) {
		isRead := func(act *tracking.Activity) bool { return act.Session == st.Turn && act.Timed }
		timed = timed && slices.ContainsFunc(a.Records, isRead)
		if !st.OthersUnknown || gone || !surely || explained || behind || !timed {
			c.Agents = append(c.Agents, st.Turn)
		}
	}
	if len(c.Agents) == 0 && (!known || gone) {
		c.Agents = a.mentioned(name, st)
	}
	switch {
	case len(c.Agents) == 0:
		c.person = true
	case !surely || gone || explained || !timed:
	case st.Turn != "":
		c.person = !behind
	default:
		c.person = true
	}
	c.person = c.person || st.Late && st.Restored == nil && slices.ContainsFunc(a.Records, func(act *tracking.Activity) bool {
		return slices.ContainsFunc(act.PersonSteps[name], func(m tracking.StepMark) bool { return m.Turn == st.Begun })
	})
	return c
}

// mentioned returns the sessions with a command in the interval that names the path.
func (a *WorktreeAuthors) mentioned(name string, st *tracking.Interval) []string {
	var found []string
	for _, act := range a.Records {
		if !st.Between && act.Mentions(name, st) {
			found = append(found, act.Session)
		}
	}
	return found
}

// IsNamed reports whether any tool call since the target names the path.
func (a *WorktreeAuthors) IsNamed(name string) bool {
	all := &tracking.Interval{}
	return slices.ContainsFunc(a.Records, func(act *tracking.Activity) bool {
		return len(act.Edits[name]) > 0 || act.Mentions(name, all)
	})
}

// Who returns who changed a path since the target. now is its current entry.
func (a *WorktreeAuthors) Who(name string, now *band.Entry) Authorship {
	list := a.changesUntil(name, a.newest.Version)
	if c, changed := a.sinceNewest(name, now); changed {
		if c.back != 0 {
			list = a.changesUntil(name, c.back)
		}
		if !c.unchanged {
			list = append(list, c)
		}
	}
	var w Authorship
	for i, c := range list {
		w.Agents = slices.Compact(slices.Sorted(slices.Values(slices.Concat(w.Agents, c.Agents))))
		w.person = w.person || c.person
		if i == 0 && c.made && len(c.Agents) == 0 {
			w.PersonMade = true
		}
	}
	return w
}

// sinceNewest returns the change of a path since the newest snapshot, or false if there was none.
func (a *WorktreeAuthors) sinceNewest(name string, now *band.Entry) (AuthoredChange, bool) {
	root, ok := a.newest.Tree.Ref()
	if !ok {
		return AuthoredChange{}, false
	}
	var was *band.Entry
	switch e, err := band.LookupPath(a.tree, root, name); {
	case err == nil:
		was = &e
	case !errors.Is(err, fs.ErrNotExist):
		return AuthoredChange{}, false // the previous entry isn't known
	}
	// An equal stat means no change, even if Content differs: the parts of a large file may be
	// stored in two ways.
	isSame := was != nil && now != nil && was.Kind == now.Kind && was.Size == now.Size &&
		was.Attr.Mode == now.Attr.Mode && was.Attr.Mtime.Equal(now.Attr.Mtime)
	if isSame || sameFile(was, now) {
		return AuthoredChange{}, false
	}
	var at time.Time
	if info, err := os.Lstat(filepath.Join(a.Workspace.Repo.Root, filepath.FromSlash(name))); err == nil {
		at = disk.Changed(info)
	} else { // removed: the time when the nearest existing directory changed
		at = workspace.RemovalTime(a.Workspace.Repo.Root, name)
	}
	return a.changeIn(&a.last, name, was, now, at)
}

// dirTime returns the time of the nearest directory above a path that the tree has.
func dirTime(l band.Loader, root band.Entry, name string) time.Time {
	for name != "." {
		name = path.Dir(name)
		in := strings.TrimPrefix(name, ".")
		e, err := band.LookupPath(l, root.Content, in)
		if err == nil && e.Kind == band.Dir {
			if dir, err := l.Directory(e.Content); err == nil {
				return dir.Attr.Mtime
			}
		}
	}
	return time.Time{}
}

// sameFile reports whether two entries are equal, ignoring times.
func sameFile(a, b *band.Entry) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	if a.Kind == band.Dir || b.Kind == band.Dir {
		return a.Kind == b.Kind
	}
	return a.Kind == b.Kind && a.Attr.Mode == b.Attr.Mode && a.Size == b.Size && a.Target == b.Target && a.Content.Hash == b.Content.Hash
}
