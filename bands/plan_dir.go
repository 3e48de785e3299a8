package bands

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// nested says whether the directory is a repository of its own that isn't asked for.
func (p *planner) nested(path string, dirs ...*tree.Directory) bool {
	if p.scope.Nested || p.scope.names(path) {
		return false
	}
	return slices.ContainsFunc(dirs, func(d *tree.Directory) bool {
		_, ok := d.Find(".git")
		return ok
	})
}

func (p *planner) bothDirs(ctx context.Context, path string, was, want *tree.Entry, out *Plan) error {
	w, err := p.now.Directory(was.Content)
	if err != nil {
		return err
	}
	t, err := p.want.Directory(want.Content)
	if damaged(err) {
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
	part := &Plan{steps: &dirSteps{path: path, was: was.Content, want: want.Content}}
	if _, err := p.merge(ctx, path, w, t, part); err != nil {
		return err
	}
	out.add(part)
	if p.scope.relate(path) == inside {
		p.directory(path, w, t, out)
	}
	return nil
}

func damaged(err error) bool {
	return errors.Is(err, band.ErrDamaged) || errors.Is(err, tree.ErrBad) || errors.Is(err, fs.ErrNotExist)
}

// directory plans the attributes of a directory that stays. Its time alone is
// no step: it follows what is in it.
func (p *planner) directory(path string, was, want *tree.Directory, out *Plan) {
	if p.keepsDirectory(path, was, want, out) {
		return
	}
	p.plan.dirs[path] = dirChange{was.Attr, want.Attr}
	a, b := was.Attr, want.Attr
	a.Mtime = b.Mtime
	if !sameAttr(&a, &b) {
		p.does(out, step{name: baseOf(shownPath(path)), kind: StepAttributes, was: tree.Dir}, &tree.Entry{Kind: tree.Dir})
	}
}

// shownPath is the root as ".".
func shownPath(path string) string {
	if path == "" {
		return "."
	}
	return path
}

func baseOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// makeDir plans a directory with all below it, in the place of nothing or of a file.
func (p *planner) makeDir(ctx context.Context, path string, was, want *tree.Entry, out *Plan) error {
	if p.later != nil {
		p.later(path, want)
		return nil
	}
	d, err := p.want.Directory(want.Content)
	if damaged(err) {
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
	part := &Plan{steps: &dirSteps{path: path, want: want.Content}}
	if _, err := p.merge(ctx, path, nil, d, part); err != nil {
		return err
	}
	switch {
	case !p.may(path, was) && len(part.steps.list)+len(part.steps.kids) == 0:
		part.steps = nil // nothing of the scope is in there
	case was == nil:
		p.does(out, step{name: want.Name, kind: StepCreate}, &tree.Entry{Kind: tree.Dir, Attr: d.Attr})
	default:
		p.does(out, step{name: want.Name, kind: StepReplace, was: was.Kind}, &tree.Entry{Kind: tree.Dir, Attr: d.Attr})
	}
	if p.scope.relate(path) == inside {
		p.addUndo(path, part, out)
	} else {
		out.add(part)
	}
	return nil
}

// removeDir plans the end of a directory, or of as much of it as may go.
func (p *planner) removeDir(ctx context.Context, path string, was *tree.Entry, out *Plan) (gone bool, err error) {
	d, err := p.now.Directory(was.Content)
	if err != nil {
		return false, err
	}
	if p.nested(path, d) {
		out.Nested = append(out.Nested, path)
		return false, nil
	}
	rel := p.scope.relate(path)
	if rel == inside && !p.takesBack(path, was) {
		rel = above // what the restore made in it may go
	}
	if rel == inside && len(d.Entries) == 0 && !p.scope.deletes(path, was) {
		out.Kept = append(out.Kept, path)
		return false, nil
	}
	part := &Plan{steps: &dirSteps{path: path, was: was.Content}}
	if gone, err = p.merge(ctx, path, d, nil, part); err != nil {
		return false, err
	}
	if !part.steps.empty() && (rel != inside || !gone) {
		p.plan.partly[path] = d.Attr
	}
	switch {
	case rel != inside:
		gone = false
	case gone:
		p.does(out, step{name: was.Name, kind: StepDelete, was: tree.Dir}, nil)
	case part.steps.empty() && len(part.Kept) > 0 && len(part.Unknown)+len(part.Nested)+len(part.Busy) == 0:
		part = &Plan{Kept: []string{path}} // all of it stays
	}
	if p.scope.relate(path) == inside && !gone {
		p.addUndo(path, part, out)
	} else {
		out.add(part)
	}
	return gone, nil
}

// dirToFile plans a file or symlink in the place of a directory: all of that
// has to go, or it stays.
func (p *planner) dirToFile(ctx context.Context, path string, was, want *tree.Entry, out *Plan) error {
	rel := p.scope.relate(path)
	if rel == inside && !p.content.whole(want) {
		out.Damaged = append(out.Damaged, path)
		return nil
	}
	part := out.steps.part()
	gone, err := p.removeDir(ctx, path, was, part)
	switch {
	case err != nil:
		return err
	case rel != inside:
		out.add(part)
	case !gone && p.scope.undo != nil:
		out.ChangedSince = append(out.ChangedSince, path)
	case !gone:
		out.Blocked = append(out.Blocked, path)
	default:
		last := &part.steps.list[len(part.steps.list)-1] // the directory's own
		last.kind = StepReplace
		*last = p.completed(*last, want)
		out.add(part)
	}
	return nil
}
