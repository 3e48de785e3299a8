package restore

import (
	"iter"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// StepKind is the kind of a step.
type StepKind byte

// The kinds of steps.
const (
	// StepCreate creates a missing path.
	StepCreate StepKind = iota + 1
	// StepRewrite restores the content of a file or symlink.
	StepRewrite
	// StepDelete removes a path that the target lacks.
	StepDelete
	// StepAttributes changes only mode, owner, time or extended attributes.
	StepAttributes
	// StepReplace replaces an entry by one of another kind.
	StepReplace
)

// String returns the name of the kind in the JSON output of commands.
func (k StepKind) String() string {
	words := [...]string{
		StepCreate: "create", StepRewrite: "rewrite", StepDelete: "delete", StepAttributes: "attributes", StepReplace: "replace",
	}
	if k == 0 || int(k) >= len(words) {
		return "unknown"
	}
	return words[k]
}

// Step is a path that a restore changes.
type Step struct {
	Path string
	Kind StepKind
}

// Plan holds the changes of a restore. Paths are relative to the root, sorted.
type Plan struct {
	Target bands.Snapshot
	// Kept are paths that appeared after the target or that the scope keeps; they stay. A
	// directory includes everything below it.
	Kept []string
	// Unknown are paths that differ, but that one side doesn't hold; they stay.
	Unknown []string
	// Nested are nested repositories that differ and stay.
	Nested []string
	// Unnamed are paths below .claude that differ and stay, as none is named.
	Unnamed []string
	// Busy are databases that a process has open; their files stay.
	Busy []string
	// Blocked are paths that can't be restored, because a path that stays is in their way.
	Blocked []string
	// Damaged are paths whose content the store has lost; they stay.
	Damaged []string
	// ChangedSince and Untouched are paths that stay in an undo or redo. ChangedSince were
	// changed by the restore that is undone and again since; Untouched differ from the target,
	// but weren't changed by that restore. A directory includes everything below it.
	ChangedSince, Untouched []string

	// Root holds the changes, except for the times of directories.
	Root *dirSteps
	// Size is the approximate number of bytes that the steps write.
	Size int64
	// Dirs are the directories that stay, with their attributes before and after.
	Dirs map[string]dirChange
	// partly are directories that the target lacks and that stay because not all entries are
	// removed, with their present attributes.
	partly map[string]band.Attr
	// Units are the databases with steps.
	Units []unitPlan
}

// unitPlan describes a database by the path of its main file.
type unitPlan struct {
	Main    string
	there   bool // a file of it exists now
	Removed bool // the target has no such database
}

// dirChange is a directory's attributes, now and in the target.
type dirChange struct{ Was, Want band.Attr }

// Steps yields the changes by path: those of the given kinds, or all if none are given.
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

// Empty reports whether the plan has no steps.
func (p *Plan) Empty() bool { return p.Total() == 0 }

// Count returns the number of steps of the kind.
func (p *Plan) Count(kind StepKind) (n int) {
	for d := range p.Root.Dirs() {
		n += d.Count(func(_ *dirSteps, s *namedStep) bool { return s.Kind == kind })
	}
	return n
}

// Total returns the number of steps.
func (p *Plan) Total() (n int) {
	for d := range p.Root.Dirs() {
		n += len(d.List)
	}
	return n
}

// lists returns the plan's lists of paths.
func (p *Plan) lists() []*[]string {
	return []*[]string{&p.Kept, &p.Unknown, &p.Nested, &p.Unnamed, &p.Busy, &p.Blocked, &p.Damaged, &p.ChangedSince, &p.Untouched}
}

// add adds the steps and lists of a part of the plan.
func (p *Plan) add(part *Plan) {
	switch d, o := p.Root, part.Root; {
	case o == nil:
	case o.Path == d.Path: // steps in the same directory
		d.List, d.kids = append(d.List, o.List...), append(d.kids, o.kids...)
	case !o.empty():
		o.List = slices.Clone(o.List) // without spare capacity
		d.kids = append(d.kids, o)
	}
	from := part.lists()
	for i, to := range p.lists() {
		*to = append(*to, *from[i]...)
	}
}

// Tidy sorts and compacts the plan.
func (p *Plan) Tidy() {
	p.Root.sort()
	for _, list := range p.lists() {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

// AddUnheld adds paths not held now to Unknown, also in directories that are equal on both sides.
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
