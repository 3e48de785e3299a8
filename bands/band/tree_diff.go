package band

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// ChangeKind is the kind of a difference between two trees.
type ChangeKind byte

// The kinds of changes.
const (
	// Added paths are only in the new tree.
	Added ChangeKind = 1
	// Deleted paths are only in the old tree.
	Deleted ChangeKind = 2
	// Modified files and symlinks have other content.
	Modified ChangeKind = 3
	// AttributesChanged means that only mode, owner, mtime or extended attributes differ.
	AttributesChanged ChangeKind = 4
	// TypeChanged paths have another kind: a file replaced a directory, for example.
	TypeChanged ChangeKind = 5
	// UnknownChange paths are Unknown in one tree, and held or missing in the other. The paths
	// below are not visited.
	UnknownChange ChangeKind = 6
)

// Change is a path that differs. The entry of a directory has the attributes of its record.
type Change struct {
	Path string
	Kind ChangeKind
	// Old is nil if the path isn't in the old tree, New if not in the new one.
	Old, New *Entry
}

// parts is a Loader that can load the parts of large files. If both loaders can, files are
// compared by their parts, else by their lists, which include the places of the parts.
type parts interface {
	Parts(ref Ref) ([]Part, error)
}

// DiffTrees visits every path that differs between two trees, in the order of WalkTree. The root
// has the path ""; a zero root is an empty tree. All paths below a directory that is in only one
// tree are visited too. Hard links are not compared. If visit returns fs.SkipDir nothing below the
// path is visited, and fs.SkipAll ends the walk; any other error is returned unchanged. Paths that
// can't be compared because a record is damaged are not visited; DiffTrees continues, and finally
// returns an ErrDamaged error that names them.
func DiffTrees(ctx context.Context, before Loader, beforeRoot Ref, after Loader, afterRoot Ref, visit func(Change) error) error {
	d := differ{ctx: ctx, visit: visit, old: side{loader: before}, new: side{loader: after}}
	d.old.parts, _ = before.(parts)
	d.new.parts, _ = after.(parts)
	return d.damage.end(d.pair("", rootEntry(beforeRoot), rootEntry(afterRoot)))
}

func rootEntry(ref Ref) *Entry {
	if ref.IsZero() {
		return nil
	}
	return &Entry{Kind: Dir, Content: ref}
}

// side is one of the two trees.
type side struct {
	loader Loader
	parts  parts // nil if the loader has none
}

// open loads the header of the directory e, and returns a copy of e with its attributes. If e
// isn't a directory it returns e and an empty one.
func (s side) open(e *Entry) (*Entry, *Directory, error) {
	if e == nil || e.Kind != Dir {
		return e, &Directory{}, nil
	}
	dir, err := LoadHeader(s.loader, e.Content)
	if err != nil {
		return nil, nil, err
	}
	described := *e
	described.Attr = dir.Attr
	return &described, dir, nil
}

// differ is the state of DiffTrees.
type differ struct {
	ctx      context.Context //nolint:containedctx // lives as long as the call that made it
	visit    func(Change) error
	old, new side
	damage   damage
}

// pair compares the entries of the two trees at a path; nil means that there is none.
func (d *differ) pair(path string, before, after *Entry) error {
	switch {
	case before == nil && after == nil, isUnknown(before) && isUnknown(after):
		return nil
	case isUnknown(before), isUnknown(after):
		was, _, err := d.old.open(before)
		if err != nil {
			return d.damage.note(path, err)
		}
		is, _, err := d.new.open(after)
		if err != nil {
			return d.damage.note(path, err)
		}
		return d.leaf(Change{Path: path, Kind: UnknownChange, Old: was, New: is})
	case IsDir(before) || IsDir(after):
		return d.dirs(path, before, after)
	}
	kind, err := d.compare(before, after)
	if err != nil {
		return d.damage.note(path, err)
	}
	if kind == 0 {
		return nil
	}
	return d.leaf(Change{Path: path, Kind: kind, Old: before, New: after})
}

func isUnknown(e *Entry) bool { return e != nil && e.Kind == Unknown }

// leaf visits a path with nothing below it.
func (d *differ) leaf(c Change) error {
	if err := d.visit(c); !errors.Is(err, fs.SkipDir) {
		return err
	}
	return nil
}

// dirs compares a path at which at least one entry is a directory.
func (d *differ) dirs(path string, before, after *Entry) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	if IsDir(before) && IsDir(after) && before.Content.Hash == after.Content.Hash {
		return nil
	}
	was, beforeDir, err := d.old.open(before)
	if err != nil {
		return d.damage.note(path, err)
	}
	is, afterDir, err := d.new.open(after)
	if err != nil {
		return d.damage.note(path, err)
	}
	if kind := kindOf(was, is); kind != 0 {
		switch err := d.visit(Change{Path: path, Kind: kind, Old: was, New: is}); {
		case errors.Is(err, fs.SkipDir):
			return nil
		case err != nil:
			return err
		}
	}
	// Skip the pages that both directories have.
	shared := map[Hash]bool{}
	for i := range beforeDir.Pages {
		shared[beforeDir.Pages[i].Ref.Hash] = false
	}
	for i := range afterDir.Pages {
		if _, ok := shared[afterDir.Pages[i].Ref.Hash]; ok {
			shared[afterDir.Pages[i].Ref.Hash] = true
		}
	}
	old, err := d.old.entries(beforeDir, shared)
	if err != nil {
		return d.damage.note(path, err)
	}
	now, err := d.new.entries(afterDir, shared)
	if err != nil {
		return d.damage.note(path, err)
	}
	return d.entries(path, old, now)
}

// entries returns the directory's entries, except for those in shared pages.
func (s side) entries(dir *Directory, shared map[Hash]bool) ([]Entry, error) {
	p, ok := s.loader.(pager)
	if !ok || len(dir.Pages) == 0 {
		return dir.Entries, nil
	}
	var all []Entry
	for i := range dir.Pages {
		if shared[dir.Pages[i].Ref.Hash] {
			continue
		}
		entries, err := p.Page(&dir.Pages[i])
		if err == nil {
			err = follows(dir.Pages, i, entries)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	return all, nil
}

// entries compares the entries of two directories, name by name.
func (d *differ) entries(path string, before, after []Entry) error {
	for len(before) > 0 || len(after) > 0 {
		var order int // which side has the next name: before if negative, after if positive
		switch {
		case len(after) == 0:
			order = -1
		case len(before) == 0:
			order = 1
		default:
			order = strings.Compare(before[0].Name, after[0].Name)
		}
		var o, n *Entry
		var name string
		if order <= 0 {
			o, before = &before[0], before[1:]
			name = o.Name
		}
		if order >= 0 {
			n, after = &after[0], after[1:]
			name = n.Name
		}
		// Fast path for equal entries.
		if order == 0 && o.Kind == n.Kind && o.Content.Hash == n.Content.Hash &&
			(o.Kind == Dir || o.Kind == Unknown || o.Size == n.Size && o.Target == n.Target && o.Attr.Equal(&n.Attr)) {
			continue
		}
		if err := d.pair(JoinPath(path, name), o, n); err != nil {
			return err
		}
	}
	return nil
}

// kindOf returns the change of entries without regard to their contents; 0 if there is none.
func kindOf(before, after *Entry) ChangeKind {
	switch {
	case before == nil:
		return Added
	case after == nil:
		return Deleted
	case before.Kind != after.Kind:
		return TypeChanged
	case !before.Attr.Equal(&after.Attr):
		return AttributesChanged
	}
	return 0
}

// compare returns the change of files and symlinks; 0 if there is none.
func (d *differ) compare(before, after *Entry) (ChangeKind, error) {
	kind := kindOf(before, after)
	switch {
	case kind != 0 && kind != AttributesChanged:
		return kind, nil
	case before.Size != after.Size || before.Target != after.Target || before.Parts != after.Parts:
		return Modified, nil
	case before.Content.Hash == after.Content.Hash:
		return kind, nil
	case !before.Parts || d.old.parts == nil || d.new.parts == nil:
		return Modified, nil
	}
	beforeParts, err := d.old.parts.Parts(before.Content)
	if err != nil {
		return kind, err
	}
	afterParts, err := d.new.parts.Parts(after.Content)
	if err != nil {
		return kind, err
	}
	if !slices.EqualFunc(beforeParts, afterParts, Part.Same) {
		return Modified, nil
	}
	return kind, nil
}
