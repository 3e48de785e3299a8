package export

import (
	"context"
	"maps"
	"sync"

	"github.com/seed-3aff656d/entire/bands/apply"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/contents"
	"github.com/seed-3aff656d/entire/bands/plan"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// exporter writes a snapshot into an empty directory. Each directory is planned when it is
// created and dropped when it is complete, so that the memory doesn't grow with the tree.
type exporter struct {
	apply   *apply.Applier
	scope   *plan.Selection
	present tree.Loader // of the tree whose files are cloned; nil: there is none

	mu    sync.Mutex          // guards the fields below
	live  map[string]band.Ref // directories of that tree, by path, until they are entered
	files int                 // steps, failed ones included
	found plan.Plan           // paths that can't be written
	first map[uint64]string   // the path that gets the content, by link number
	links apply.DirNodes      // for the other names, which are created after all files
}

// run writes the tree.
func (x *exporter) run(ctx context.Context, root band.Ref) error {
	a := x.apply
	a.Flush = &apply.Flusher{}
	d, err := a.Content.Records.Directory(root)
	if err != nil {
		return err
	}
	a.Total, a.Size = int(d.Totals.Files+d.Totals.Dirs), d.Totals.Bytes
	top := &apply.DirNode{}
	enter := func(n *apply.DirNode, s *contents.Scratch) {
		if n == top {
			x.fill(ctx, n, d, s)
			return
		}
		if n.Err != nil { // the export has stopped
			return
		}
		d, err := a.Content.Records.Directory(n.Make.Content)
		switch {
		case tree.IsDamaged(err):
			n.Err = err
			x.mu.Lock()
			x.found.Damaged = append(x.found.Damaged, n.Path)
			x.mu.Unlock()
		case err != nil:
			n.Err = err
			a.Fail(n.Path, err)
		default:
			n.Make.Attr = d.Attr
			x.fill(ctx, n, d, s)
		}
	}
	leave := func(n *apply.DirNode, s *contents.Scratch) {
		a.LeaveChange(n, s)
		n.Kids, n.Make, n.Change = nil, nil, nil
	}
	if err := a.Walk(ctx, top, enter, leave); err != nil {
		return err
	}
	if links := x.links[""]; links != nil {
		err = a.Walk(ctx, links, a.EnterLink, a.LeaveLink)
	}
	x.found.Tidy()
	return err
}

// fill plans the entries of a directory and writes its files. Subdirectories become kids of the
// node.
func (x *exporter) fill(ctx context.Context, n *apply.DirNode, d *tree.Directory, s *contents.Scratch) {
	part := (&plan.DirSteps{Path: n.Path}).Part()
	p := &plan.Planner{
		Comparison: plan.Comparison{Content: x.apply.Content, Want: x.apply.Content.Records, Scope: x.scope},
		Plan:       part, Seen: map[string]bool{},
	}
	p.Later = func(path string, want *tree.Entry) {
		e := *want
		n.Kids = append(n.Kids, &apply.DirNode{
			Path: path, Name: e.Name, Parent: n, Make: &e,
		})
	}
	_, err := p.Merge(ctx, n.Path, nil, d, part)
	part.Tidy()
	var steps []*plan.Action
	if err == nil {
		steps, err = p.ActionsIn(part.Root, nil, d, func(*plan.DirSteps, *plan.NamedStep) bool { return true })
	}
	if err != nil {
		n.Err = err
		x.apply.Fail(tree.ShownPath(n.Path), err)
		return
	}
	n.Units, n.Files, n.Same = part.Units, d.Totals.Files, x.same(n.Path, d)
	x.take(n, part, steps, d.Attr)
	if n.Make == nil {
		n.Change = &plan.DirChange{Want: d.Attr}
	}
	x.apply.EnterChange(n, s)
	n.Steps, n.Units, n.Same = nil, nil, nil
}

// same returns the files of the present tree in the directory path with the same content as in d,
// and records its subdirectories.
func (x *exporter) same(path string, d *tree.Directory) map[string]*tree.Entry {
	if x.present == nil {
		return nil
	}
	x.mu.Lock()
	ref, ok := x.live[path]
	delete(x.live, path)
	x.mu.Unlock()
	if !ok {
		return nil
	}
	now, err := x.present.Directory(ref)
	if err != nil {
		return nil // all contents are read from the store
	}
	same, dirs := map[string]*tree.Entry{}, map[string]band.Ref{}
	for i := range d.Entries {
		want := &d.Entries[i]
		at, ok := now.Find(want.Name)
		if !ok || now.Entries[at].Kind != want.Kind {
			continue
		}
		switch is := &now.Entries[at]; {
		case want.Kind == tree.Dir:
			dirs[tree.JoinPath(path, is.Name)] = is.Content
		case want.Kind == tree.File && want.Size == is.Size && want.Size > 0 && want.Content.Hash == is.Content.Hash:
			same[is.Name] = is
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.Copy(x.live, dirs)
	return same
}

// take assigns the steps of its files to the node. The first name of a file with several links
// gets the content, the others become links to it.
func (x *exporter) take(n *apply.DirNode, part *plan.Plan, steps []*plan.Action, attr tree.Attr) {
	n.Steps = make([]*plan.Action, 0, len(steps))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.files += len(steps) + 1
	x.found.Damaged = append(x.found.Damaged, part.Damaged...)
	x.found.Unknown = append(x.found.Unknown, part.Unknown...)
	for _, s := range steps {
		if s.Entry.Kind != tree.File || s.Entry.Link == 0 {
			n.Steps = append(n.Steps, s)
			continue
		}
		first, ok := x.first[s.Entry.Link]
		if !ok {
			x.first[s.Entry.Link] = s.Path
			n.Steps = append(n.Steps, s)
			continue
		}
		e, link := *s.Entry, *s // copies: the directory is dropped
		link.Entry, link.Link = &e, first
		at := x.links.Get(n.Path)
		if s.Unit != 0 {
			at.Units = append(at.Units, part.Units[s.Unit-1])
			link.Unit = len(at.Units)
		}
		at.Steps, at.Count, at.Late = append(at.Steps, &link), at.Count+1, true
		at.Change = &plan.DirChange{Want: attr}
	}
}
