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
	if _, err := p.merge(ctx, path, w, t, out); err != nil {
		return err
	}
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
		out.Steps = append(out.Steps, Step{
			Path: shownPath(path), Kind: StepAttributes,
			Was:   &tree.Entry{Name: baseOf(path), Kind: tree.Dir, Attr: was.Attr},
			Entry: &tree.Entry{Name: baseOf(path), Kind: tree.Dir, Attr: want.Attr},
		})
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
	e := *want
	e.Attr = d.Attr
	step := Step{Path: path, Kind: StepCreate, Entry: &e, Was: was}
	if was != nil {
		step.Kind = StepReplace
	}
	part := &Plan{Steps: []Step{step}}
	if _, err := p.merge(ctx, path, nil, d, part); err != nil {
		return err
	}
	if !p.may(path, was) && len(part.Steps) == 1 {
		part.Steps = nil // nothing of the scope is in there
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
	part := &Plan{}
	if gone, err = p.merge(ctx, path, d, nil, part); err != nil {
		return false, err
	}
	if len(part.Steps) > 0 && (rel != inside || !gone) {
		p.plan.partly[path] = d.Attr
	}
	switch {
	case rel != inside:
		gone = false
	case gone:
		e := *was
		e.Attr = d.Attr
		part.Steps = append(part.Steps, Step{Path: path, Kind: StepDelete, Was: &e})
	case len(part.Steps) == 0 && len(part.Kept) > 0 && len(part.Unknown)+len(part.Nested)+len(part.Busy) == 0:
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
	part := &Plan{}
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
		last := &part.Steps[len(part.Steps)-1] // the directory's own
		last.Kind, last.Entry = StepReplace, want
		out.add(part)
	}
	return nil
}
