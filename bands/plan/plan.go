// Package plan compares a tree with a snapshot and lists the steps that make the
// tree what the snapshot has, within a scope: what is created, rewritten, linked,
// given attributes and deleted, and what stays and why. For an undo it is limited
// to what a restore changed and nobody changed since. It writes nothing to the
// tree; the lists of changed paths are its only files.
package plan

import (
	"iter"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// StepKind is what a step does with its path.
type StepKind byte

// The kinds of steps.
const (
	// StepCreate makes what isn't there.
	StepCreate StepKind = iota + 1
	// StepRewrite gives a file or symlink its former content.
	StepRewrite
	// StepDelete removes what the target lacks.
	StepDelete
	// StepAttributes changes mode, owner, time or extended attributes only.
	StepAttributes
	// StepReplace puts one kind of file in the place of another.
	StepReplace
)

// String returns the word for it that commands print in JSON.
func (k StepKind) String() string {
	words := [...]string{
		StepCreate: "create", StepRewrite: "rewrite", StepDelete: "delete", StepAttributes: "attributes", StepReplace: "replace",
	}
	if k == 0 || int(k) >= len(words) {
		return "unknown"
	}
	return words[k]
}

// Step is one path that a restore changes.
type Step struct {
	Path string
	Kind StepKind
}

// Plan is all that a restore would do. Paths are relative to the root, sorted.
type Plan struct {
	Target bands.Snapshot
	// Kept appeared after the target, or are kept by the scope: they stay. A
	// directory includes all below it.
	Kept []string
	// Unknown differ, but one side doesn't hold them: they stay.
	Unknown []string
	// Nested are nested repositories that differ and stay.
	Nested []string
	// Unnamed differ below .claude and stay, as no path names them.
	Unnamed []string
	// Busy are databases that a process has open; their files stay.
	Busy []string
	// Blocked can't be restored, because something that stays is in their way.
	Blocked []string
	// Damaged are paths whose content the store has lost; they stay.
	Damaged []string
	// ChangedSince and Untouched are of an undo or redo, and stay. ChangedSince
	// are paths that the restore which is taken back changed, and somebody else
	// since; Untouched differ from the target, but that restore didn't change
	// them. A directory includes all below it.
	ChangedSince, Untouched []string

	// Root are the changes; times of directories are set beside them.
	Root *DirSteps
	// Size is about how many bytes the steps write.
	Size int64
	// Dirs are directories that stay, and what they are to be in the end.
	Dirs map[string]DirChange
	// partly are directories that the target lacks and that stay, with what they
	// are now: not all in them goes.
	partly map[string]tree.Attr
	// Units are the databases that steps belong to.
	Units []UnitPlan
}

// UnitPlan is a database by the path of its main file.
type UnitPlan struct {
	Main  string
	there bool // something of it is there now
	Goes  bool // all of it goes
}

// DirChange is a directory's attributes, now and in the target.
type DirChange struct{ Was, Want tree.Attr }

// Steps yields the changes by path: those of the kinds, of all kinds if none is
// given.
func (p *Plan) Steps(kinds ...StepKind) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		for d, i := range p.Root.all() {
			s := &d.List[i]
			if (len(kinds) == 0 || slices.Contains(kinds, s.Kind)) && !yield(Step{Path: d.PathOf(s), Kind: s.Kind}) {
				return
			}
		}
	}
}

// Empty reports whether the plan changes nothing that it would show.
func (p *Plan) Empty() bool { return p.Total() == 0 }

// Count is how many steps are of the kind.
func (p *Plan) Count(kind StepKind) (n int) {
	for d := range p.Root.Dirs() {
		n += d.Count(func(_ *DirSteps, s *NamedStep) bool { return s.Kind == kind })
	}
	return n
}

// Total is how many steps there are.
func (p *Plan) Total() (n int) {
	for d := range p.Root.Dirs() {
		n += len(d.List)
	}
	return n
}

// lists are the plan's lists of paths.
func (p *Plan) lists() []*[]string {
	return []*[]string{&p.Kept, &p.Unknown, &p.Nested, &p.Unnamed, &p.Busy, &p.Blocked, &p.Damaged, &p.ChangedSince, &p.Untouched}
}

// add takes up what a part of the plan has.
func (p *Plan) add(part *Plan) {
	switch d, o := p.Root, part.Root; {
	case o == nil:
	case o.Path == d.Path: // more steps of its own
		d.List, d.kids = append(d.List, o.List...), append(d.kids, o.kids...)
	case !o.empty():
		o.List = slices.Clone(o.List) // without room for more
		d.kids = append(d.kids, o)
	}
	from := part.lists()
	for i, to := range p.lists() {
		*to = append(*to, *from[i]...)
	}
}

// Tidy sorts the plan.
func (p *Plan) Tidy() {
	p.Root.sort()
	for _, list := range p.lists() {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

// AddUnheld names what isn't held now, in directories that are the same on both
// sides too.
func (p *Plan) AddUnheld(in *Selection, paths []string) {
	for _, path := range paths {
		listed := slices.Contains(p.Nested, path) || slices.Contains(p.Unnamed, path) || slices.Contains(p.Busy, path) ||
			slices.Contains(p.Kept, path)
		if in.Relate(path) == Inside && !in.Hides(path) && !listed {
			p.Unknown = append(p.Unknown, path)
		}
	}
	slices.Sort(p.Unknown)
	p.Unknown = slices.Compact(p.Unknown)
}
