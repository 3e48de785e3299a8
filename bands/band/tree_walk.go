package band

import (
	"context"
	"errors"
	"io/fs"
	"strings"
)

// ErrUnknownPath means that a path is below an Unknown one: whether it existed is unknown.
var ErrUnknownPath = errors.New("not in the snapshot")

// LookupPath returns the entry of a path, whose names are separated by slashes; "" is the root. A
// directory's entry has the Attr of its record. If there is no such path, or it is below an
// Unknown one, the error is a *fs.PathError of fs.ErrNotExist or ErrUnknownPath.
func LookupPath(l Loader, root Ref, path string) (Entry, error) {
	e := Entry{Kind: Dir, Content: root}
	for rest := path; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch e.Kind {
		case Unknown:
			return Entry{}, &fs.PathError{Op: "find", Path: path, Err: ErrUnknownPath}
		case Dir:
		default:
			return Entry{}, missing(path)
		}
		dir, err := LoadHeader(l, e.Content)
		if err != nil {
			return Entry{}, err
		}
		entries := dir.Entries
		if p, ok := l.(pager); ok && len(dir.Pages) > 0 {
			at, ok := FindPage(dir.Pages, name)
			if !ok {
				return Entry{}, missing(path)
			}
			if entries, err = p.Page(&dir.Pages[at]); err != nil {
				return Entry{}, err
			}
		}
		i, ok := find(entries, name)
		if !ok {
			return Entry{}, missing(path)
		}
		e = entries[i]
	}
	if e.Kind == Dir {
		dir, err := LoadHeader(l, e.Content)
		if err != nil {
			return e, err
		}
		e.Attr = dir.Attr
	}
	return e, nil
}

func missing(path string) error {
	return &fs.PathError{Op: "find", Path: path, Err: fs.ErrNotExist}
}

// WalkTree visits every entry of the tree, a directory before its entries, the names of a directory
// in order. The root comes first, with the path "". For a directory dir is its content and e has
// its attributes; otherwise dir is nil. If visit returns fs.SkipDir for a directory, nothing
// below it is visited, and fs.SkipAll ends the walk; any other error is returned unchanged.
// Directories whose record is damaged are not visited; the walk continues, and finally returns a
// ErrDamaged error that names them.
func WalkTree(ctx context.Context, l Loader, root Ref, visit func(path string, e Entry, dir *Directory) error) error {
	w := walker{ctx: ctx, loader: l, visit: visit}
	return w.damage.end(w.enter("", Entry{Kind: Dir, Content: root}))
}

// damage collects the errors of the directories that could not be loaded.
type damage []error

// note records the error and returns nil if it is damage, so that the walk continues.
func (d *damage) note(path string, err error) error {
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	if path == "" {
		path = "."
	}
	*d = append(*d, &fs.PathError{Op: "load", Path: path, Err: err})
	return nil
}

// end returns the error of a walk that ended with err.
func (d *damage) end(err error) error {
	if errors.Is(err, fs.SkipAll) {
		err = nil
	}
	if len(*d) == 0 {
		return err
	}
	return errors.Join(append(*d, err)...)
}

// walker is the state of WalkTree.
type walker struct {
	ctx    context.Context //nolint:containedctx // lives as long as the call that made it
	loader Loader
	visit  func(path string, e Entry, dir *Directory) error
	damage damage
}

func (w *walker) enter(path string, e Entry) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	dir, err := LoadDir(w.loader, e.Content)
	if err != nil {
		return w.damage.note(path, err)
	}
	e.Attr = dir.Attr
	if err := w.visit(path, e, dir); err != nil {
		if errors.Is(err, fs.SkipDir) {
			return nil
		}
		return err
	}
	for i := range dir.Entries {
		e := &dir.Entries[i]
		child := JoinPath(path, e.Name)
		if e.Kind == Dir {
			err = w.enter(child, *e)
		} else {
			err = w.visit(child, *e, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
