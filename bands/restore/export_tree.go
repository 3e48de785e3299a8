package restore

import (
	"context"
	"maps"
	"sync"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// exporter writes a snapshot into an empty directory. Each directory is planned when it is
// created and dropped when it is complete, so that the memory doesn't grow with the tree.
type exporter struct {
	apply   *applier
	scope   *Selection
	present band.Loader // of the tree whose files are cloned; nil: there is none

	mu    sync.Mutex          // guards the fields below
	live  map[string]band.Ref // directories of that tree, by path, until they are entered
	files int                 // steps, failed ones included
	found Plan                // paths that can't be written
	first map[uint64]string   // the path that gets the content, by link number
	links dirNodes            // for the other names, which are created after all files
}

// run writes the tree.
func (x *exporter) run(ctx context.Context, root band.Ref) error {
	a := x.apply
	a.Flush = &flusher{}
	d, err := a.Content.Records.Directory(root)
	if err != nil {
		return err
	}
	a.Total, a.Size = int(d.Totals.Files+d.Totals.Dirs), d.Totals.Bytes
	top := &dirNode{}
	enter := func(n *dirNode, s *bands.CopyBuffer) {
		if n == top {
			x.fill(ctx, n, d, s)
			return
		}
		if n.Err != nil { // the export has stopped
			return
		}
		d, err := a.Content.Records.Directory(n.Make.Content)
		switch {
		case band.IsDamaged(err):
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
	leave := func(n *dirNode, s *bands.CopyBuffer) {
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
func (x *exporter) fill(ctx context.Context, n *dirNode, d *band.Directory, s *bands.CopyBuffer) {
	part := (&dirSteps{Path: n.Path}).Part()
	p := &planner{
		comparison: comparison{Content: x.apply.Content, Want: x.apply.Content.Records, Scope: x.scope},
		Plan:       part, Seen: map[string]bool{},
	}
	p.Later = func(path string, want *band.Entry) {
		e := *want
		n.Kids = append(n.Kids, &dirNode{
			Path: path, Name: e.Name, Parent: n, Make: &e,
		})
	}
	_, err := p.Merge(ctx, n.Path, nil, d, part)
	part.Tidy()
	var steps []*action
	if err == nil {
		steps, err = p.ActionsIn(part.Root, nil, d, func(*dirSteps, *namedStep) bool { return true })
	}
	if err != nil {
		n.Err = err
		x.apply.Fail(band.ShownPath(n.Path), err)
		return
	}
	n.Units, n.Files, n.Same = part.Units, d.Totals.Files, x.same(n.Path, d)
	x.take(n, part, steps, d.Attr)
	if n.Make == nil {
		n.Change = &dirChange{Want: d.Attr}
	}
	x.apply.EnterChange(n, s)
	n.Steps, n.Units, n.Same = nil, nil, nil
}

// same returns the files of the present tree in the directory path with the same content as in d,
// and records its subdirectories.
func (x *exporter) same(path string, d *band.Directory) map[string]*band.Entry {
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
	same, dirs := map[string]*band.Entry{}, map[string]band.Ref{}
	for i := range d.Entries {
		want := &d.Entries[i]
		at, ok := now.Find(want.Name)
		if !ok || now.Entries[at].Kind != want.Kind {
			continue
		}
		switch is := &now.Entries[at]; {
		case want.Kind == band.Dir:
			dirs[band.JoinPath(path, is.Name)] = is.Content
		case want.Kind == band.File && want.Size == is.Size && want.Size > 0 && want.Content.Hash == is.Content.Hash:
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
func (x *exporter) take(n *dirNode, part *Plan, steps []*action, attr band.Attr) {
	n.Steps = make([]*action, 0, len(steps))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.files += len(steps) + 1
	x.found.Damaged = append(x.found.Damaged, part.Damaged...)
	x.found.Unknown = append(x.found.Unknown, part.Unknown...)
	for _, s := range steps {
		if s.Entry.Kind != band.File || s.Entry.Link == 0 {
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
		at.Change = &dirChange{Want: attr}
	}
}
