package bands

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// dirSteps are the steps of a directory's entries, and of the directories below.
// A step names an entry and doesn't hold it: actions reads it again from the
// directory's records, so that a plan takes about 55 bytes a path.
type dirSteps struct {
	path      string
	was, want band.Ref // the directory now and in the target; zero: there is none
	list      []step
	kids      []*dirSteps
	links     map[string]string // by name the path that it becomes one more name of
}

// step is what becomes of one entry.
type step struct {
	name      string
	kind      StepKind
	was, want tree.Kind // now and in the target; 0: nothing
	state     stateID   // what it makes of the path; noState unless that is listed
	unit      int32     // one more than the index of the database that the path belongs to
}

// kindOf is the kind of an entry, 0 of none.
func kindOf(e *tree.Entry) tree.Kind {
	if e == nil {
		return 0
	}
	return e.Kind
}

// makes reports whether the directory is on the target's side only.
func (d *dirSteps) makes() bool { return d.was.IsZero() && !d.want.IsZero() }

// empty reports whether there is nothing to do in the directory.
func (d *dirSteps) empty() bool {
	return d == nil || len(d.list)+len(d.kids) == 0 && !d.makes()
}

// part is a plan for some entries of the same directory.
func (d *dirSteps) part() *Plan {
	return &Plan{steps: &dirSteps{path: d.path, was: d.was, want: d.want}}
}

// add takes up the steps of a directory in it, or more of its own.
func (d *dirSteps) add(o *dirSteps) {
	switch {
	case o == nil:
	case o.path == d.path:
		d.list, d.kids = append(d.list, o.list...), append(d.kids, o.kids...)
	case !o.empty():
		o.list = slices.Clone(o.list) // without room for more
		d.kids = append(d.kids, o)
	}
}

// sort puts the steps in the order of their paths.
func (d *dirSteps) sort() {
	for at := range d.dirs() {
		byName := func(a, b step) int { return strings.Compare(a.name, b.name) }
		if !slices.IsSortedFunc(at.list, byName) {
			slices.SortFunc(at.list, byName)
		}
		slices.SortFunc(at.kids, func(a, b *dirSteps) int { return compareDirs(baseOf(a.path), baseOf(b.path)) })
	}
}

// compareDirs compares names as they are in paths of what is in directories of
// these names: with a slash behind them.
func compareDirs(a, b string) int {
	n := min(len(a), len(b))
	switch c := strings.Compare(a[:n], b[:n]); {
	case c != 0 || len(a) == len(b):
		return c
	case len(a) == n:
		return cmp.Compare('/', b[n])
	default:
		return cmp.Compare(a[n], '/')
	}
}

// comesBefore reports whether what is in the directory sorts before a name beside
// the directory.
func (d *dirSteps) comesBefore(name string) bool {
	own := baseOf(d.path)
	rest, ok := strings.CutPrefix(name, own)
	if !ok {
		return own < name
	}
	return rest > "/"
}

// dirs yields the directory and those below that have steps.
func (d *dirSteps) dirs() iter.Seq[*dirSteps] {
	return func(yield func(*dirSteps) bool) { d.visitDirs(yield) }
}

func (d *dirSteps) visitDirs(yield func(*dirSteps) bool) bool {
	if d == nil {
		return true
	}
	if !yield(d) {
		return false
	}
	return !slices.ContainsFunc(d.kids, func(kid *dirSteps) bool { return !kid.visitDirs(yield) })
}

// all yields all steps by path, each as its directory and its place in list.
func (d *dirSteps) all() iter.Seq2[*dirSteps, int] {
	return func(yield func(*dirSteps, int) bool) { d.visit(yield) }
}

func (d *dirSteps) visit(yield func(*dirSteps, int) bool) bool {
	if d == nil {
		return true
	}
	kids := d.kids
	for i := range d.list {
		for ; len(kids) > 0 && kids[0].comesBefore(d.list[i].name); kids = kids[1:] {
			if !kids[0].visit(yield) {
				return false
			}
		}
		if !yield(d, i) {
			return false
		}
	}
	return !slices.ContainsFunc(kids, func(kid *dirSteps) bool { return !kid.visit(yield) })
}

// pathOf is the path of one of the directory's steps.
func (d *dirSteps) pathOf(s *step) string { return joinPath(d.path, s.name) }

// at returns the steps of a directory at or below this one, which is the root;
// nil if it has none.
func (d *dirSteps) at(path string) *dirSteps {
	if path == "" {
		return d
	}
	for name := range strings.SplitSeq(path, "/") {
		if d = d.kid(name); d == nil {
			return nil
		}
	}
	return d
}

func (d *dirSteps) kid(name string) *dirSteps {
	if i, ok := d.searchKid(name); ok {
		return d.kids[i]
	}
	return nil
}

func (d *dirSteps) searchKid(name string) (int, bool) {
	return slices.BinarySearchFunc(d.kids, name, func(kid *dirSteps, name string) int { return compareDirs(baseOf(kid.path), name) })
}

func (d *dirSteps) search(name string) (int, bool) {
	return slices.BinarySearchFunc(d.list, name, func(s step, name string) int { return strings.Compare(s.name, name) })
}

// find returns the step of a path and its directory; nil if there is none.
func (d *dirSteps) find(path string) (*dirSteps, *step) {
	if d = d.at(parentOf(path)); d == nil {
		return nil, nil
	}
	if i, ok := d.search(baseOf(path)); ok {
		return d, &d.list[i]
	}
	return nil, nil
}

// setLink makes the entry of the name one more name of another path.
func (d *dirSteps) setLink(name, other string) {
	if d.links == nil {
		d.links = map[string]string{}
	}
	d.links[name] = other
}

// linked reports whether the step makes a path one more name of another.
func (d *dirSteps) linked(s *step) bool { return d.links[s.name] != "" }

// action is a step with what is needed to carry it out.
type action struct {
	Path string
	Kind StepKind
	// Entry is what the target has; nil of a StepDelete. The Attr of a directory
	// is in it too.
	Entry *tree.Entry
	// Was is what is there now; nil of a StepCreate. Of a directory it has no Attr.
	Was *tree.Entry

	link string // the path that has the content, of which this becomes one more name
	unit int    // as in step
}

// bare are the wanted steps of a directory without entries.
func (d *dirSteps) bare(wanted func(*dirSteps, *step) bool) []*action {
	count := d.count(wanted)
	all, list := make([]action, count), make([]*action, 0, count)
	for i := range d.list {
		if s := &d.list[i]; wanted(d, s) {
			a := &all[len(list)]
			*a = action{Path: d.pathOf(s), Kind: s.kind, link: d.links[s.name], unit: int(s.unit)}
			list = append(list, a)
		}
	}
	return list
}

func (d *dirSteps) count(wanted func(*dirSteps, *step) bool) (n int) {
	for i := range d.list {
		if wanted(d, &d.list[i]) {
			n++
		}
	}
	return n
}

// actions reads what the wanted steps of a directory need.
func (p *planner) actions(d *dirSteps, wanted func(*dirSteps, *step) bool) ([]*action, error) {
	was, want := &tree.Directory{}, &tree.Directory{}
	var needs, has bool
	for i := range d.list {
		if s := &d.list[i]; wanted(d, s) {
			needs, has = needs || s.want != 0, has || s.was != 0
		}
	}
	var err error
	if has {
		if was, err = loadDir(p.now, d.was); err != nil {
			return nil, err
		}
	}
	if needs {
		if want, err = loadDir(p.want, d.want); err != nil {
			return nil, err
		}
	}
	return p.actionsIn(d, was, want, wanted)
}

// actionsIn finds what the wanted steps need in the directory now and in the target.
func (p *planner) actionsIn(d *dirSteps, was, want *tree.Directory, wanted func(*dirSteps, *step) bool) ([]*action, error) {
	list := d.bare(wanted)
	steps := d.list
	for _, a := range list {
		name := baseOf(a.Path)
		for steps[0].name != name {
			steps = steps[1:]
		}
		var err error
		if s := &steps[0]; s.was != 0 {
			a.Was, err = entryIn(was, s.name, s.was)
		}
		if s := &steps[0]; s.want != 0 && err == nil {
			if a.Entry, err = entryIn(want, s.name, s.want); err == nil {
				a.Entry, err = p.described(a, s)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Path, err)
		}
	}
	return list, nil
}

func entryIn(d *tree.Directory, name string, kind tree.Kind) (*tree.Entry, error) {
	i, ok := d.Find(name)
	if !ok || d.Entries[i].Kind != kind {
		return nil, errChanged
	}
	return &d.Entries[i], nil
}

// described is the entry that an action's path is to become: of a directory with
// its attributes, of a file with the time that it is to get.
func (p *planner) described(a *action, s *step) (*tree.Entry, error) {
	switch {
	case s.want == tree.Dir:
		d, err := tree.Header(p.want, a.Entry.Content)
		if err != nil {
			return nil, err
		}
		e := *a.Entry
		e.Attr = d.Attr
		return &e, nil
	case s.unit != 0: // a database's files have their own times
		return a.Entry, nil
	default:
		return p.timed(a.Was, a.Entry), nil
	}
}
