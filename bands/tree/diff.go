package tree

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/band"
)

// ChangeKind is how a path differs between two trees.
type ChangeKind byte

// The kinds of changes.
const (
	// Added paths are only in the new tree.
	Added ChangeKind = 1
	// Deleted paths are only in the old tree.
	Deleted ChangeKind = 2
	// Modified files and symlinks have other content.
	Modified ChangeKind = 3
	// Attributes means that mode, owner, mtime or extended attributes differ,
	// and nothing else.
	Attributes ChangeKind = 4
	// TypeChanged paths are something else: a file where a directory was.
	TypeChanged ChangeKind = 5
	// UnknownChange paths are Unknown in one tree, and held or missing in the
	// other. What is below is not visited.
	UnknownChange ChangeKind = 6
)

// Change is one path that differs. The entry of a directory has the attributes
// of its record.
type Change struct {
	Path string
	Kind ChangeKind
	// Old is nil if the path isn't in the old tree, New if not in the new one.
	Old, New *Entry
}

// parts is a Loader that can load the parts of large files. Where both have it,
// files are compared by their parts; else by where those parts are stored.
type parts interface {
	Parts(ref band.Ref) ([]band.Part, error)
}

// Diff visits every path that differs between two trees, in the order of Walk;
// the root has the path "", a zero root is no tree at all. All paths below a
// directory that is in one tree only are visited too. Hard links are not
// compared. If visit returns fs.SkipDir nothing below the path is visited, and
// fs.SkipAll ends it; any other error is returned as it is. Paths that can't be
// compared because a record is damaged are not visited; Diff goes on, and names
// them in the end in an error that is band.ErrDamaged.
func Diff(ctx context.Context, before Loader, beforeRoot band.Ref, after Loader, afterRoot band.Ref, visit func(Change) error) error {
	d := differ{ctx: ctx, visit: visit, old: side{loader: before}, new: side{loader: after}}
	d.old.parts, _ = before.(parts)
	d.new.parts, _ = after.(parts)
	return d.damage.end(d.pair("", rootEntry(beforeRoot), rootEntry(afterRoot)))
}

func rootEntry(ref band.Ref) *Entry {
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

// open loads the header of the directory that e is, and returns a copy of e with
// its attributes. Of anything else the directory is an empty one.
func (s side) open(e *Entry) (*Entry, *Directory, error) {
	if e == nil || e.Kind != Dir {
		return e, &Directory{}, nil
	}
	dir, err := Header(s.loader, e.Content)
	if err != nil {
		return nil, nil, err
	}
	described := *e
	described.Attr = dir.Attr
	return &described, dir, nil
}

// differ is one Diff.
type differ struct {
	ctx      context.Context //nolint:containedctx // lives as long as the call that made it
	visit    func(Change) error
	old, new side
	damage   damage
}

// pair compares what the two trees have at a path: nil is nothing.
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

// leaf visits a path below which is nothing.
func (d *differ) leaf(c Change) error {
	if err := d.visit(c); !errors.Is(err, fs.SkipDir) {
		return err
	}
	return nil
}

// dirs compares where at least one is a directory.
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
	// Pages that both have are left out.
	shared := map[band.Hash]bool{}
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

// entries are those of the directory that are in no shared page.
func (s side) entries(dir *Directory, shared map[band.Hash]bool) ([]Entry, error) {
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
		var order int // which has the next name: the first if it is negative, both if it is 0
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
		// That nothing differs costs nothing.
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

// kindOf is the change of entries, their content left aside; 0 if there is none.
func kindOf(before, after *Entry) ChangeKind {
	switch {
	case before == nil:
		return Added
	case after == nil:
		return Deleted
	case before.Kind != after.Kind:
		return TypeChanged
	case !before.Attr.Equal(&after.Attr):
		return Attributes
	}
	return 0
}

// compare is the change of files and symlinks; 0 if there is none.
func (d *differ) compare(before, after *Entry) (ChangeKind, error) {
	kind := kindOf(before, after)
	switch {
	case kind != 0 && kind != Attributes:
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
	if !slices.EqualFunc(beforeParts, afterParts, band.Part.Same) {
		return Modified, nil
	}
	return kind, nil
}
