package restore

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/seed-3aff656d/entire/bands/band"
)

// linkGroups are the names of files with several links, by link number, and their entries.
type linkGroups struct {
	names map[uint64][]string
	entry map[string]*band.Entry
}

// groupsOf returns all names of the files with the link numbers.
func groupsOf(ctx context.Context, l band.Loader, root band.Ref, numbers map[uint64]bool) (linkGroups, error) {
	g := linkGroups{names: map[uint64][]string{}, entry: map[string]*band.Entry{}}
	if root.IsZero() || len(numbers) == 0 {
		return g, nil
	}
	err := band.WalkTree(ctx, l, root, func(path string, e band.Entry, _ *band.Directory) error {
		if e.Kind == band.File && e.Link != 0 && numbers[e.Link] {
			g.names[e.Link] = append(g.names[e.Link], path)
			g.entry[path] = &e
		}
		return nil
	})
	return g, err
}

// relinker joins names that are links of one file in the target, and separates names that aren't.
type relinker struct {
	p         *planner
	now, want linkGroups
	trees     [2]band.Loader // now and wanted
	at        [2]band.Ref    // their roots
}

// relink plans the links between names. Steps of the plan become links to the first name of their
// group.
func (p *planner) relink(ctx context.Context, now, want band.Ref) error {
	if len(p.linked) == 0 {
		return nil
	}
	had, wanted := map[uint64]bool{}, map[uint64]bool{}
	for _, l := range p.linked {
		if l.was != nil {
			had[l.was.Link] = true
		}
		if l.want != nil {
			wanted[l.want.Link] = true
		}
	}
	delete(had, 0)
	delete(wanted, 0)
	r := &relinker{p: p, trees: [2]band.Loader{p.Now, p.Want}, at: [2]band.Ref{now, want}}
	var err error
	if r.want, err = groupsOf(ctx, p.Want, want, wanted); err != nil && !band.IsDamaged(err) {
		return err
	}
	// Names of one file in the target may be links of other files now.
	for _, names := range r.want.names {
		if len(names) < 2 {
			continue
		}
		for _, name := range names {
			e, err := r.lookup(0, name)
			if err != nil {
				return err
			}
			if e != nil && e.Link != 0 {
				had[e.Link] = true
			}
		}
	}
	if r.now, err = groupsOf(ctx, p.Now, now, had); err != nil {
		return err
	}
	return r.run()
}

// lookup returns the entry on one side: 0 is now, 1 the target; nil if there is none.
func (r *relinker) lookup(side int, path string) (*band.Entry, error) {
	e, err := band.LookupPath(r.trees[side], r.at[side], path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, band.ErrUnknownPath) || side == 1 && band.IsDamaged(err) {
		return nil, nil //nolint:nilnil // there may be none
	}
	return &e, err
}

func (r *relinker) run() error {
	done := map[uint64]bool{}
	for _, l := range r.p.linked {
		if l.want == nil || l.want.Kind != band.File {
			continue
		}
		number := l.want.Link
		if number != 0 && len(r.want.names[number]) > 1 {
			if !done[number] {
				done[number] = true
				if err := r.group(r.want.names[number]); err != nil {
					return err
				}
			}
			continue
		}
		// A file with one name in the target gets its own copy of the content.
		if r.step(l.path) != nil || l.was == nil || !r.p.may(l.path, l.was) ||
			len(r.now.names[l.was.Link]) < 2 || !r.p.same(l.was, l.want) {
			continue
		}
		if err := r.rewrite(l.path, l.was, l.want, ""); err != nil {
			return err
		}
	}
	return r.keepTimes()
}

// keepTimes plans to restore the times of directories in which only links change.
func (r *relinker) keepTimes() error {
	for d := range r.p.Plan.Root.Dirs() {
		dir := d.Path
		if _, known := r.p.Plan.Dirs[dir]; known || len(d.List) == 0 || r.p.Scope.Relate(dir) != Inside {
			continue
		}
		was, err := r.directory(0, dir)
		if err != nil {
			return err
		}
		want, err := r.directory(1, dir)
		if err != nil {
			return err
		}
		if was != nil && want != nil && !r.p.keepsDirectory(dir, was, want, r.p.Plan) {
			r.p.Plan.Dirs[dir] = dirChange{was.Attr, want.Attr}
		}
	}
	return nil
}

// directory returns the directory on one side, like lookup; nil if there is none.
func (r *relinker) directory(side int, path string) (*band.Directory, error) {
	ref := r.at[side]
	if path != "" {
		e, err := r.lookup(side, path)
		if err != nil || e == nil || e.Kind != band.Dir {
			return nil, err
		}
		ref = e.Content
	}
	d, err := r.trees[side].Directory(ref)
	if side == 1 && band.IsDamaged(err) {
		return nil, nil //nolint:nilnil // there may be none
	}
	return d, err
}

// member is one name of a group.
type member struct {
	path      string
	was, want *band.Entry
	planned   bool
	unit      bool
	intact    bool
}

// group makes the names links of one file.
func (r *relinker) group(names []string) error {
	members := make([]member, 0, len(names))
	for _, name := range names {
		was, err := r.lookup(0, name)
		if err != nil {
			return err
		}
		m := member{path: name, was: was, want: r.want.entry[name]}
		if s := r.step(name); s != nil {
			m.planned, m.unit = true, s.Unit != 0
		}
		m.intact = !m.planned && r.p.same(was, m.want)
		if m.intact || m.planned {
			members = append(members, m)
		}
	}
	first := r.first(members)
	if first < 0 {
		return nil
	}
	lead := members[first]
	outsiders := lead.intact && r.outsiders(lead, members)
	if outsiders && !r.p.may(lead.path, lead.was) {
		return nil
	}
	if outsiders {
		if err := r.rewrite(lead.path, lead.was, lead.want, ""); err != nil {
			return err
		}
		lead.intact = false
	}
	for i, m := range members {
		switch {
		case i == first:
		case m.intact && lead.intact && lead.was.Link != 0 && m.was.Link == lead.was.Link:
		case m.planned:
			d, s := r.p.Plan.Root.Find(m.path)
			d.setLink(s.Name, lead.path)
			if s.Kind == StepAttributes {
				s.Kind = StepRewrite
			}
		case r.p.may(m.path, m.was):
			if err := r.rewrite(m.path, m.was, m.want, lead.path); err != nil {
				return err
			}
		}
	}
	return nil
}

// step returns the step of a path; nil if there is none.
func (r *relinker) step(path string) *namedStep {
	_, s := r.p.Plan.Root.Find(path)
	return s
}

// first returns the index of the name that keeps or gets the content: an intact one whose file
// has no names outside the group, preferably one that may not be changed; else one that is
// written anyway or may be changed; -1 if there is none.
func (r *relinker) first(members []member) int {
	own := -1
	for i, m := range members {
		if !m.intact || r.outsiders(m, members) {
			continue
		}
		if !r.p.may(m.path, m.was) {
			return i
		}
		if own < 0 {
			own = i
		}
	}
	if own >= 0 {
		return own
	}
	// A database is written with the files that belong to it, before the links.
	if unit := slices.IndexFunc(members, func(m member) bool { return m.unit }); unit >= 0 {
		return unit
	}
	if written := slices.IndexFunc(members, func(m member) bool { return m.planned }); written >= 0 {
		return written
	}
	return slices.IndexFunc(members, func(m member) bool { return r.p.may(m.path, m.was) })
}

// outsiders reports whether the member's file has names outside the group.
func (r *relinker) outsiders(m member, members []member) bool {
	return slices.ContainsFunc(r.now.names[m.was.Link], func(name string) bool {
		return !slices.ContainsFunc(members, func(o member) bool { return o.path == name })
	})
}

// rewrite adds a step for a path with the right content but wrong links.
func (r *relinker) rewrite(path string, was, want *band.Entry, link string) error {
	if !r.p.Content.Whole(want) {
		r.p.Plan.Damaged = append(r.p.Plan.Damaged, path)
		return nil
	}
	d, err := r.steps(band.ParentPath(path))
	if err != nil {
		return err
	}
	s := r.p.completed(namedStep{Name: band.BasePath(path), Kind: StepRewrite, Was: was.Kind}, want)
	i, _ := d.search(s.Name)
	d.List = slices.Insert(d.List, i, s)
	if link != "" {
		d.setLink(s.Name, link)
	}
	return nil
}

// steps returns the steps of a directory on both sides, creating them if needed.
func (r *relinker) steps(dir string) (*dirSteps, error) {
	if dir == "" {
		return r.p.Plan.Root, nil
	}
	parent, err := r.steps(band.ParentPath(dir))
	if err != nil {
		return nil, err
	}
	i, ok := parent.searchKid(band.BasePath(dir))
	if ok {
		return parent.kids[i], nil
	}
	d := &dirSteps{Path: dir}
	for side, ref := range []*band.Ref{&d.Was, &d.Want} {
		e, err := r.lookup(side, dir)
		if err != nil {
			return nil, err
		}
		if e != nil {
			*ref = e.Content
		}
	}
	parent.kids = slices.Insert(parent.kids, i, d)
	return d, nil
}
