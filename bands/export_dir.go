package bands

import (
	"context"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// exporter restores a snapshot into an empty directory. Each directory is planned
// when it is made and forgotten when it is done, so that what is held doesn't
// grow with the tree.
type exporter struct {
	apply *applier
	scope *scope

	mu    sync.Mutex        // guards what follows
	files int               // steps, failed ones included
	found Plan              // what can't be written
	first map[uint64]string // by link number the path that gets the content
	links spots             // of the other names, which come after all files
}

func newExporter(a *applier, leaveOut []string) *exporter {
	out := map[string]bool{}
	for _, p := range leaveOut {
		out[strings.TrimSuffix(p, "/")] = true
	}
	a.unsynced = true
	return &exporter{
		apply: a,
		scope: &scope{
			Scope: Scope{Nested: true, Keep: func(p string, _, _ *tree.Entry) bool { return out[p] }},
			named: map[string]bool{"": true}, over: map[string]bool{agentDir: true}, hidden: map[string]bool{},
		},
		first: map[uint64]string{}, links: spots{},
	}
}

// run writes the tree.
func (x *exporter) run(ctx context.Context, root band.Ref) error {
	a := x.apply
	a.flush = &flusher{}
	d, err := a.content.records.Directory(root)
	if err != nil {
		return err
	}
	a.total = int(d.Totals.Files + d.Totals.Dirs)
	top := &spot{}
	enter := func(n *spot, s *scratch) {
		if n == top {
			x.fill(ctx, n, d, s)
			return
		}
		x.enter(ctx, n, s)
	}
	if err := a.walk(ctx, top, enter, x.leave); err != nil {
		return err
	}
	if links := x.links[""]; links != nil {
		err = a.walk(ctx, links, a.enterLink, a.leaveLink)
	}
	x.found.tidy()
	return err
}

// enter makes a directory with its files.
func (x *exporter) enter(ctx context.Context, n *spot, s *scratch) {
	if n.err != nil { // everything has ended
		return
	}
	d, err := x.apply.content.records.Directory(n.make.Content)
	switch {
	case damaged(err):
		n.err = err
		x.damaged(n.path)
	case err != nil:
		n.err = err
		x.apply.fail(n.path, err)
	default:
		n.make.Attr = d.Attr
		x.fill(ctx, n, d, s)
	}
}

// fill plans what is in a directory and writes its files. The directories in it
// become its kids.
func (x *exporter) fill(ctx context.Context, n *spot, d *tree.Directory, s *scratch) {
	part := (&dirSteps{path: n.path}).part()
	p := &planner{content: x.apply.content, want: x.apply.content.records, scope: x.scope, plan: part, seen: map[string]bool{}}
	p.later = func(path string, want *tree.Entry) {
		e := *want
		n.kids = append(n.kids, &spot{
			path: path, name: e.Name, parent: n, make: &e,
		})
	}
	_, err := p.merge(ctx, n.path, nil, d, part)
	part.tidy()
	var steps []*action
	if err == nil {
		steps, err = p.actionsIn(part.steps, nil, d, func(*dirSteps, *step) bool { return true })
	}
	if err != nil {
		n.err = err
		x.apply.fail(shownPath(n.path), err)
		return
	}
	n.units, n.files = part.units, d.Totals.Files
	x.take(n, part, steps, d.Attr)
	if n.make == nil {
		n.change = &dirChange{want: d.Attr}
	}
	x.apply.enterChange(n, s)
	n.steps, n.units = nil, nil
}

// take gives the spot the steps of its files. Of a file with several names the
// first that is met gets the content, the others are links to it.
func (x *exporter) take(n *spot, part *Plan, steps []*action, attr tree.Attr) {
	n.steps = make([]*action, 0, len(steps))
	x.mu.Lock()
	defer x.mu.Unlock()
	x.files += len(steps) + 1
	x.found.Damaged = append(x.found.Damaged, part.Damaged...)
	x.found.Unknown = append(x.found.Unknown, part.Unknown...)
	for _, s := range steps {
		if s.Entry.Kind != tree.File || s.Entry.Link == 0 {
			n.steps = append(n.steps, s)
			continue
		}
		first, ok := x.first[s.Entry.Link]
		if !ok {
			x.first[s.Entry.Link] = s.Path
			n.steps = append(n.steps, s)
			continue
		}
		e, link := *s.Entry, *s // of their own: the directory's are forgotten
		link.Entry, link.link = &e, first
		at := x.links.get(n.path)
		if s.unit != 0 {
			at.units = append(at.units, part.units[s.unit-1])
			link.unit = len(at.units)
		}
		at.steps, at.count, at.late = append(at.steps, &link), at.count+1, true
		at.change = &dirChange{want: attr}
	}
}

// damaged notes a directory that can't be read.
func (x *exporter) damaged(path string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.found.Damaged = append(x.found.Damaged, path)
}

// leave gives a directory its attributes and forgets it.
func (x *exporter) leave(n *spot, s *scratch) {
	x.apply.leaveChange(n, s)
	n.kids, n.make, n.change = nil, nil, nil
}
