package rewind

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// KeepReason is why a rewind leaves a path as it is.
type KeepReason string

// The reasons.
const (
	// KeptChanged paths were changed or removed since, by persons only.
	KeptChanged KeepReason = "changed"
	// KeptCreated paths were created since, but not by an agent.
	KeptCreated KeepReason = "created"
	// KeptCreatedBoth paths were created by a person and changed by an agent.
	KeptCreatedBoth KeepReason = "created-both"
	// KeptNamed paths were created since; a command of an agent names them, but may not have
	// written them.
	KeptNamed KeepReason = "named"
	// KeptBoth paths were changed by an agent and by a person, and KeepBoth is set.
	KeptBoth KeepReason = "both"
	// KeptAtWork paths were changed by another session whose turn is under way.
	KeptAtWork KeepReason = "at-work"
)

// KeptPath is a path that a rewind leaves as it is. A directory represents all
// below it.
type KeptPath struct {
	Path    string
	Why     KeepReason
	Removed bool   // of KeptChanged: it doesn't exist now
	Session string // of KeptAtWork
}

// SessionPaths are the paths that a session changed.
type SessionPaths struct {
	Session string
	Paths   []string
}

// Plan lists the changes of a rewind, and the authors of the changed work.
type Plan struct {
	restore.Plan

	// KeptPaths is Kept, with the reasons.
	KeptPaths []KeptPath
	// Both are the paths that an agent and a person have changed since, restored or
	// kept.
	Both []string
	// AtWork are the paths changed by other sessions whose turns are under way.
	AtWork []SessionPaths
}

// rewindChoice decides which paths a rewind changes, and records why it leaves the others.
type rewindChoice struct {
	*authorship.WorktreeAuthors

	opts   Options
	target bands.Snapshot
	named  map[string]bool // individually by the user
	atWork map[string]bool // other sessions whose turns are under way
	who    map[string]authorship.Authorship
	why    map[string]KeptPath
}

// newChoice returns the choice for one rewind. The caller closes it.
func newChoice(ctx context.Context, w *workspace.Workspace, store *bands.Store, target bands.Snapshot, o Options) (*rewindChoice, error) {
	known, err := authorship.AuthorsSince(ctx, w, store, target)
	if err != nil {
		return nil, err
	}
	c := &rewindChoice{
		WorktreeAuthors: known, opts: o, target: target, named: map[string]bool{}, atWork: map[string]bool{},
		who: map[string]authorship.Authorship{}, why: map[string]KeptPath{},
	}
	for _, p := range o.Paths {
		c.named[p] = true
	}
	for _, act := range known.Records {
		if act.Active && act.Session != o.Session && !slices.Contains(o.Own, act.Session) {
			c.atWork[act.Session] = true
		}
	}
	return c, nil
}

// scope returns the part of the tree to restore.
func (c *rewindChoice) scope(ctx context.Context) (restore.Scope, error) {
	o := c.opts
	scope := restore.Scope{Nested: o.Nested, Force: o.Force, PresentTime: !o.Exact, Keep: c.keep, Delete: c.remove}
	switch o.Scope {
	case RewindPaths:
		scope.Paths = o.Paths
		return scope, restore.CheckPaths(c.Store, c.target, restore.Scope{Root: c.Workspace.Repo.Root, Paths: o.Paths})
	case RewindCode:
		var err error
		if scope.Paths, err = c.Touched(ctx); err != nil {
			return scope, err
		}
		if len(scope.Paths) == 0 { // restore nothing: no paths would mean all of them
			scope.Keep = func(string, *band.Entry, *band.Entry) bool { return true }
		}
	case RewindAll:
	}
	return scope, nil
}

// of returns the authorship of a path, determined once.
func (c *rewindChoice) of(name string, now *band.Entry) authorship.Authorship {
	w, known := c.who[name]
	if !known {
		w = c.Who(name, now)
		c.who[name] = w
	}
	return w
}

// keep reports whether a path that differs stays as it is.
func (c *rewindChoice) keep(name string, now, want *band.Entry) bool {
	if workspace.IsDir(now) || now == nil && workspace.IsDir(want) && c.HasAgentsBelow(name) {
		return false // its contents are decided individually
	}
	w := c.of(name, now)
	for _, id := range w.Agents {
		if c.atWork[id] && !c.opts.Force && !c.opts.AtWork {
			c.why[name] = KeptPath{Path: name, Why: KeptAtWork, Session: id}
			return true
		}
	}
	switch {
	case c.opts.Exact || c.named[name]:
		return false
	case w.ByPerson() && want != nil:
		c.why[name] = KeptPath{Path: name, Why: KeptChanged, Removed: now == nil}
	case w.ByBoth() && c.opts.KeepBoth:
		c.why[name] = KeptPath{Path: name, Why: KeptBoth}
	default:
		return false
	}
	return true
}

// remove reports whether a path that the target lacks is removed.
func (c *rewindChoice) remove(name string, now band.Entry) bool {
	if c.opts.Exact || c.named[name] {
		return true
	}
	w := c.of(name, &now)
	if !c.Sparse[name] && len(w.Agents) > 0 && !w.PersonMade {
		return true
	}
	why := KeptPath{Path: name, Why: KeptCreated}
	switch {
	case len(w.Agents) > 0:
		why.Why = KeptCreatedBoth
	case c.IsNamed(name):
		why.Why = KeptNamed
	}
	c.why[name] = why
	return false
}

// plan returns a plan with the decisions about its paths.
func (c *rewindChoice) plan(p restore.Plan) Plan {
	plan := Plan{Plan: p}
	reasons := make([]KeptPath, 0, len(c.why))
	for _, why := range c.why {
		reasons = append(reasons, why)
	}
	slices.SortFunc(reasons, func(a, b KeptPath) int { return cmp.Compare(a.Path, b.Path) })
	for _, name := range p.Kept {
		why := KeptPath{Why: KeptCreated}
		i, _ := slices.BinarySearchFunc(reasons, name, func(k KeptPath, name string) int { return cmp.Compare(k.Path, name) })
		for ; i < len(reasons); i++ {
			if reasons[i].Path == name || strings.HasPrefix(reasons[i].Path, name+"/") {
				why = reasons[i]
				break
			}
			if !strings.HasPrefix(reasons[i].Path, name) {
				break
			}
		}
		why.Path = name
		plan.KeptPaths = append(plan.KeptPaths, why)
	}
	atWork := map[string][]string{}
	note := func(name string) {
		w, known := c.who[name]
		if !known {
			return
		}
		if w.ByBoth() && !c.opts.Exact && !c.named[name] {
			plan.Both = append(plan.Both, name)
		}
		for _, id := range w.Agents {
			if c.atWork[id] {
				atWork[id] = append(atWork[id], name)
			}
		}
	}
	for step := range p.Steps() {
		note(step.Path)
	}
	for _, k := range reasons { // and not KeptPaths, where a directory represents its files
		if k.Why == KeptBoth || k.Why == KeptAtWork {
			note(k.Path)
		}
	}
	for id, paths := range atWork {
		slices.Sort(paths)
		plan.AtWork = append(plan.AtWork, SessionPaths{id, paths})
	}
	slices.SortFunc(plan.AtWork, func(a, b SessionPaths) int { return cmp.Compare(a.Session, b.Session) })
	slices.Sort(plan.Both)
	return plan
}
