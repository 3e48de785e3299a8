package restore

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// dirSteps are the steps of a directory's entries, and of the directories below. A step names an
// entry and doesn't contain it: Actions reads it again from the directory's records, so that a
// plan takes about 55 bytes per path.
type dirSteps struct {
	Path      string
	Was, Want band.Ref // the directory now and in the target; zero if missing
	List      []namedStep
	kids      []*dirSteps
	Links     map[string]string // the paths that entries become hard links of, by name
}

// namedStep is the step of one entry.
type namedStep struct {
	Name      string
	Kind      StepKind
	Was, Want band.EntryKind // now and in the target; 0: missing
	state     stateID        // the path's state afterwards; noState unless it is listed
	Unit      int32          // one more than the index of the path's database; 0: none
}

// kindOf returns the kind of an entry, 0 for nil.
func kindOf(e *band.Entry) band.EntryKind {
	if e == nil {
		return 0
	}
	return e.Kind
}

// Makes reports whether the directory is only in the target.
func (d *dirSteps) Makes() bool { return d.Was.IsZero() && !d.Want.IsZero() }

// empty reports whether the directory has no steps.
func (d *dirSteps) empty() bool {
	return d == nil || len(d.List)+len(d.kids) == 0 && !d.Makes()
}

// Part returns an empty plan for some entries of the directory.
func (d *dirSteps) Part() *Plan {
	return &Plan{Root: &dirSteps{Path: d.Path, Was: d.Was, Want: d.Want}}
}

// sort sorts the steps by path.
func (d *dirSteps) sort() {
	for at := range d.Dirs() {
		byName := func(a, b namedStep) int { return strings.Compare(a.Name, b.Name) }
		if !slices.IsSortedFunc(at.List, byName) {
			slices.SortFunc(at.List, byName)
		}
		slices.SortFunc(at.kids, func(a, b *dirSteps) int { return compareDirs(band.BasePath(a.Path), band.BasePath(b.Path)) })
	}
}

// compareDirs compares names of directories in the order of the paths below them: with a slash
// appended.
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

// comesBefore reports whether paths in the directory sort before a name beside the directory.
func (d *dirSteps) comesBefore(name string) bool {
	own := band.BasePath(d.Path)
	rest, ok := strings.CutPrefix(name, own)
	if !ok {
		return own < name
	}
	return rest > "/"
}

// Dirs yields the directory and the directories below it that have steps.
func (d *dirSteps) Dirs() iter.Seq[*dirSteps] {
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

// all yields all steps by path, each as its directory and its index in List.
func (d *dirSteps) all() iter.Seq2[*dirSteps, int] {
	return func(yield func(*dirSteps, int) bool) { d.visit(yield) }
}

func (d *dirSteps) visit(yield func(*dirSteps, int) bool) bool {
	if d == nil {
		return true
	}
	kids := d.kids
	for i := range d.List {
		for ; len(kids) > 0 && kids[0].comesBefore(d.List[i].Name); kids = kids[1:] {
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

// PathOf returns the path of one of the directory's steps.
func (d *dirSteps) PathOf(s *namedStep) string { return band.JoinPath(d.Path, s.Name) }

// Kid returns the steps of a subdirectory; nil if it has none.
func (d *dirSteps) Kid(name string) *dirSteps {
	if i, ok := d.searchKid(name); ok {
		return d.kids[i]
	}
	return nil
}

func (d *dirSteps) searchKid(name string) (int, bool) {
	return slices.BinarySearchFunc(d.kids, name, func(kid *dirSteps, name string) int { return compareDirs(band.BasePath(kid.Path), name) })
}

func (d *dirSteps) search(name string) (int, bool) {
	return slices.BinarySearchFunc(d.List, name, func(s namedStep, name string) int { return strings.Compare(s.Name, name) })
}

// Find returns the step of a path and its directory, nil if there is none. d is the root.
func (d *dirSteps) Find(path string) (*dirSteps, *namedStep) {
	if parent := band.ParentPath(path); parent != "" {
		for name := range strings.SplitSeq(parent, "/") {
			if d = d.Kid(name); d == nil {
				return nil, nil
			}
		}
	}
	if d == nil {
		return nil, nil
	}
	if i, ok := d.search(band.BasePath(path)); ok {
		return d, &d.List[i]
	}
	return nil, nil
}

// setLink makes the entry name a hard link of the path other.
func (d *dirSteps) setLink(name, other string) {
	if d.Links == nil {
		d.Links = map[string]string{}
	}
	d.Links[name] = other
}

// Linked reports whether the step makes its path a hard link of another.
func (d *dirSteps) Linked(s *namedStep) bool { return d.Links[s.Name] != "" }

// action is a step with the entries needed to apply it.
type action struct {
	Path string
	Kind StepKind
	// Entry is the target's entry; nil for a StepDelete. The entry of a directory has its Attr.
	Entry *band.Entry
	// Was is the present entry; nil for a StepCreate. A directory's has no Attr.
	Was *band.Entry

	Link string // the path that this becomes a hard link of
	Unit int    // as in namedStep
}

// Bare returns actions for the wanted steps of a directory, without entries.
func (d *dirSteps) Bare(wanted func(*dirSteps, *namedStep) bool) []*action {
	count := d.Count(wanted)
	all, list := make([]action, count), make([]*action, 0, count)
	for i := range d.List {
		if s := &d.List[i]; wanted(d, s) {
			a := &all[len(list)]
			*a = action{Path: d.PathOf(s), Kind: s.Kind, Link: d.Links[s.Name], Unit: int(s.Unit)}
			list = append(list, a)
		}
	}
	return list
}

// Count returns the number of wanted steps in the directory itself.
func (d *dirSteps) Count(wanted func(*dirSteps, *namedStep) bool) (n int) {
	for i := range d.List {
		if wanted(d, &d.List[i]) {
			n++
		}
	}
	return n
}

// Actions reads the entries for the wanted steps of a directory.
func (c *comparison) Actions(d *dirSteps, wanted func(*dirSteps, *namedStep) bool) ([]*action, error) {
	was, want := &band.Directory{}, &band.Directory{}
	var needs, has bool
	for i := range d.List {
		if s := &d.List[i]; wanted(d, s) {
			needs, has = needs || s.Want != 0, has || s.Was != 0
		}
	}
	var err error
	if has {
		if was, err = band.LoadDir(c.Now, d.Was); err != nil {
			return nil, err
		}
	}
	if needs {
		if want, err = band.LoadDir(c.Want, d.Want); err != nil {
			return nil, err
		}
	}
	return c.ActionsIn(d, was, want, wanted)
}

// ActionsIn is like Actions, with the directory now and in the target already read.
func (c *comparison) ActionsIn(d *dirSteps, was, want *band.Directory, wanted func(*dirSteps, *namedStep) bool) ([]*action, error) {
	list := d.Bare(wanted)
	steps := d.List
	for _, a := range list {
		name := band.BasePath(a.Path)
		for steps[0].Name != name {
			steps = steps[1:]
		}
		var err error
		if s := &steps[0]; s.Was != 0 {
			a.Was, err = entryIn(was, s.Name, s.Was)
		}
		if s := &steps[0]; s.Want != 0 && err == nil {
			if a.Entry, err = entryIn(want, s.Name, s.Want); err == nil {
				a.Entry, err = c.described(a, s)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Path, err)
		}
	}
	return list, nil
}

// entryIn returns the entry with the name and kind, or dirfd.ErrChanged.
func entryIn(d *band.Directory, name string, kind band.EntryKind) (*band.Entry, error) {
	i, ok := d.Find(name)
	if !ok || d.Entries[i].Kind != kind {
		return nil, dirfd.ErrChanged
	}
	return &d.Entries[i], nil
}

// described returns the entry that an action's path will have: for a directory with its
// attributes, for a file with its new time.
func (c *comparison) described(a *action, s *namedStep) (*band.Entry, error) {
	if s.Want == band.Dir {
		d, err := band.LoadHeader(c.Want, a.Entry.Content)
		if err != nil {
			return nil, err
		}
		e := *a.Entry
		e.Attr = d.Attr
		return &e, nil
	}
	if s.Unit != 0 || !c.Scope.PresentTime || a.Entry.Kind != band.File {
		return a.Entry, nil // a database's files have their own times
	}
	e := *a.Entry
	switch {
	case a.Was != nil && c.sameContent(a.Was, a.Entry):
		e.Attr.Mtime = a.Was.Attr.Mtime
	case !c.Scope.At.IsZero():
		e.Attr.Mtime = c.Scope.At
	}
	return &e, nil
}
