package bands

import (
	"cmp"
	"slices"

	"github.com/seed-3aff656d/entire/bands/tree"
)

// StepKind is what a step does with its path.
type StepKind string

// The kinds of steps.
const (
	// StepCreate makes what isn't there.
	StepCreate StepKind = "create"
	// StepRewrite gives a file or symlink its former content.
	StepRewrite StepKind = "rewrite"
	// StepDelete removes what the target lacks.
	StepDelete StepKind = "delete"
	// StepAttributes changes mode, owner, time or extended attributes only.
	StepAttributes StepKind = "attributes"
	// StepReplace puts one kind of file in the place of another.
	StepReplace StepKind = "replace"
)

// Step is one path that a restore changes.
type Step struct {
	Path string
	Kind StepKind
	// Entry is what the target has; nil of a StepDelete. The Attr of a directory
	// is in it too.
	Entry *tree.Entry
	// Was is what is there now; nil of a StepCreate.
	Was *tree.Entry

	// link is the path that has the content, of which this becomes one more name.
	link string
	// unit is one more than the index of the database that the path belongs to.
	unit int
}

// Plan is all that a restore would do. Paths are relative to the root, sorted.
type Plan struct {
	Target Snapshot
	// Steps are the changes; times of directories are set beside them.
	Steps []Step
	// Kept appeared after the target, or are kept by the scope: they stay. A
	// directory stands for all below it.
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

	// dirs are directories that stay, and what they are to be in the end.
	dirs map[string]dirChange
	// partly are directories that the target lacks and that stay, with what they
	// are now: not all in them goes.
	partly map[string]tree.Attr
	// units are the databases that steps belong to.
	units []unitPlan
}

// unitPlan is a database by the path of its main file.
type unitPlan struct {
	main  string
	there bool // something of it is there now
	goes  bool // all of it goes
}

// dirChange is a directory's attributes, now and in the target.
type dirChange struct{ was, want tree.Attr }

// Empty says whether the plan changes nothing that it would show.
func (p *Plan) Empty() bool { return len(p.Steps) == 0 }

// Count is how many steps are of the kind.
func (p *Plan) Count(kind StepKind) int {
	n := 0
	for i := range p.Steps {
		if p.Steps[i].Kind == kind {
			n++
		}
	}
	return n
}

// bytes is how much the plan writes.
func (p *Plan) bytes() int64 {
	sum := int64(0)
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Entry != nil && s.Kind != StepAttributes && s.link == "" {
			sum += s.Entry.Size
		}
	}
	return sum
}

// lists are the plan's lists of paths.
func (p *Plan) lists() []*[]string {
	return []*[]string{&p.Kept, &p.Unknown, &p.Nested, &p.Unnamed, &p.Busy, &p.Blocked, &p.Damaged, &p.ChangedSince, &p.Untouched}
}

// add takes up what a part of the plan has.
func (p *Plan) add(part *Plan) {
	// The longer list is not copied: their order doesn't matter before tidy.
	if len(part.Steps) > len(p.Steps) {
		p.Steps, part.Steps = part.Steps, p.Steps
	}
	p.Steps = append(p.Steps, part.Steps...)
	from := part.lists()
	for i, to := range p.lists() {
		*to = append(*to, *from[i]...)
	}
}

// tidy sorts the plan.
func (p *Plan) tidy() {
	slices.SortFunc(p.Steps, func(a, b Step) int { return cmp.Compare(a.Path, b.Path) })
	for _, list := range p.lists() {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}
