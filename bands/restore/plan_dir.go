package restore

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/bands/band"
)

// nested reports whether the directory is a nested repository outside the scope.
func (p *planner) nested(path string, dirs ...*band.Directory) bool {
	if p.Scope.Nested || p.Scope.names(path) {
		return false
	}
	return slices.ContainsFunc(dirs, func(d *band.Directory) bool {
		_, ok := d.Find(".git")
		return ok
	})
}

func (p *planner) bothDirs(ctx context.Context, path string, was, want *band.Entry, out *Plan) error {
	w, err := p.Now.Directory(was.Content)
	if err != nil {
		return err
	}
	t, err := p.Want.Directory(want.Content)
	if band.IsDamaged(err) {
		out.Damaged = append(out.Damaged, path)
		return nil
	}
	if err != nil {
		return err
	}
	if p.nested(path, w, t) {
		out.Nested = append(out.Nested, path)
		return nil
	}
	part := &Plan{Root: &dirSteps{Path: path, Was: was.Content, Want: want.Content}}
	if _, err := p.Merge(ctx, path, w, t, part); err != nil {
		return err
	}
	out.add(part)
	if p.Scope.Relate(path) == Inside {
		p.directory(path, w, t, out)
	}
	return nil
}

// directory plans the attributes of a directory that stays. A different time alone is no step, as
// it depends on changes of the entries.
func (p *planner) directory(path string, was, want *band.Directory, out *Plan) {
	if p.keepsDirectory(path, was, want, out) {
		return
	}
	p.Plan.Dirs[path] = dirChange{was.Attr, want.Attr}
	a, b := was.Attr, want.Attr
	a.Mtime = b.Mtime
	if !a.Equal(&b) {
		p.does(out, namedStep{Name: band.BasePath(band.ShownPath(path)), Kind: StepAttributes, Was: band.Dir}, &band.Entry{Kind: band.Dir})
	}
}

// makeDir plans the creation of a directory with its contents, replacing a file if there is one.
func (p *planner) makeDir(ctx context.Context, path string, was, want *band.Entry, out *Plan) error {
	if p.Later != nil {
		p.Later(path, want)
		return nil
	}
	d, err := p.Want.Directory(want.Content)
	if band.IsDamaged(err) {
		out.Damaged = append(out.Damaged, path)
		return nil
	}
	if err != nil {
		return err
	}
	if p.nested(path, d) {
		out.Nested = append(out.Nested, path)
		return nil
	}
	part := &Plan{Root: &dirSteps{Path: path, Want: want.Content}}
	if _, err := p.Merge(ctx, path, nil, d, part); err != nil {
		return err
	}
	switch {
	case !p.may(path, was) && len(part.Root.List)+len(part.Root.kids) == 0:
		part.Root = nil // it contains nothing of the scope
	case was == nil:
		p.does(out, namedStep{Name: want.Name, Kind: StepCreate}, &band.Entry{Kind: band.Dir, Attr: d.Attr})
	default:
		p.does(out, namedStep{Name: want.Name, Kind: StepReplace, Was: was.Kind}, &band.Entry{Kind: band.Dir, Attr: d.Attr})
	}
	if p.Scope.Relate(path) == Inside {
		p.addUndo(path, part, out)
	} else {
		out.add(part)
	}
	return nil
}

// removeDir plans the removal of a directory, or of the part of it that may be removed.
func (p *planner) removeDir(ctx context.Context, path string, was *band.Entry, out *Plan) (gone bool, err error) {
	d, err := p.Now.Directory(was.Content)
	if err != nil {
		return false, err
	}
	if p.nested(path, d) {
		out.Nested = append(out.Nested, path)
		return false, nil
	}
	rel := p.Scope.Relate(path)
	if rel == Inside && !p.takesBack(path, was) {
		rel = Above // entries that the restore made may still be removed
	}
	if rel == Inside && len(d.Entries) == 0 && !p.Scope.deletes(path, was) {
		out.Kept = append(out.Kept, path)
		return false, nil
	}
	part := &Plan{Root: &dirSteps{Path: path, Was: was.Content}}
	if gone, err = p.Merge(ctx, path, d, nil, part); err != nil {
		return false, err
	}
	if !part.Root.empty() && (rel != Inside || !gone) {
		p.Plan.partly[path] = d.Attr
	}
	switch {
	case rel != Inside:
		gone = false
	case gone:
		p.does(out, namedStep{Name: was.Name, Kind: StepDelete, Was: band.Dir}, nil)
	case part.Root.empty() && len(part.Kept) > 0 && len(part.Unknown)+len(part.Nested)+len(part.Busy) == 0:
		part = &Plan{Kept: []string{path}} // nothing in it is removed
	}
	if p.Scope.Relate(path) == Inside && !gone {
		p.addUndo(path, part, out)
	} else {
		out.add(part)
	}
	return gone, nil
}

// dirToFile plans to replace a directory by a file or symlink. If not all of the directory can be
// removed, it stays.
func (p *planner) dirToFile(ctx context.Context, path string, was, want *band.Entry, out *Plan) error {
	rel := p.Scope.Relate(path)
	if rel == Inside && !p.Content.Whole(want) {
		out.Damaged = append(out.Damaged, path)
		return nil
	}
	part := out.Root.Part()
	gone, err := p.removeDir(ctx, path, was, part)
	switch {
	case err != nil:
		return err
	case rel != Inside:
		out.add(part)
	case !gone && p.Scope.Undo != nil:
		out.ChangedSince = append(out.ChangedSince, path)
	case !gone:
		out.Blocked = append(out.Blocked, path)
	default:
		last := &part.Root.List[len(part.Root.List)-1] // the directory's own
		last.Kind = StepReplace
		*last = p.completed(*last, want)
		out.add(part)
	}
	return nil
}
