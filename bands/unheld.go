package bands

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// unheld reports whether a path that is unknown for the reason has a content that
// a snapshot should hold and doesn't, so that nobody knows whether it changed.
func unheld(why tree.Reason) bool {
	switch why {
	case tree.Socket, tree.Device, tree.FIFO, tree.OtherFileSystem, tree.Excluded, tree.Worktree:
		return false
	case tree.Unreadable, tree.Moving, tree.Budget, tree.Busy, tree.Forgotten:
	default: // of versions to come
	}
	return true
}

// Unheld are the paths whose content the snapshot should hold and doesn't: that
// can't be read, kept changing, or found no room.
func (t *Taken) Unheld() []string { return together(t.Unreadable, t.Moving, t.Snapshot.LeftOut) }

// Unheld is Taken.Unheld of a tree as it is now.
func (p *Present) Unheld() []string { return together(p.Unreadable, p.Moving, p.LeftOut) }

func together(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Uncompared are the paths of the options whose content one of the sides should
// hold and doesn't, sorted.
func Uncompared(ctx context.Context, o DiffOptions, sides ...Side) ([]string, error) {
	in, err := Scope{Paths: o.Paths}.compile(nil)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, s := range sides {
		if list, err = s.appendUnheld(ctx, list, in, "", s.root); err != nil {
			return nil, err
		}
	}
	return together(list), nil
}

// appendUnheld appends what is not held in a directory and below.
func (s Side) appendUnheld(ctx context.Context, list []string, in *scope, path string, ref band.Ref) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d, err := tree.Header(s.loader, ref)
	if err == nil && d.Totals.Unknown > 0 {
		d, err = s.loader.Directory(ref)
	}
	if damaged(err) || err == nil && d.Totals.Unknown == 0 {
		return list, nil // the comparison reports damage
	}
	if err != nil {
		return nil, err
	}
	for i := range d.Entries {
		e := &d.Entries[i]
		at := joinPath(path, e.Name)
		relation := in.relate(at)
		switch {
		case relation == outside:
		case e.Kind == tree.Dir:
			if list, err = s.appendUnheld(ctx, list, in, at, e.Content); err != nil {
				return nil, err
			}
		case e.Kind == tree.Unknown && unheld(e.Reason) && relation == inside:
			list = append(list, at)
		}
	}
	return list, nil
}

// addUnheld names what isn't held now, in directories that are the same on both
// sides too.
func (p *Plan) addUnheld(in *scope, paths []string) {
	for _, path := range paths {
		listed := slices.Contains(p.Nested, path) || slices.Contains(p.Unnamed, path) || slices.Contains(p.Busy, path) ||
			slices.Contains(p.Kept, path)
		if in.relate(path) == inside && !in.hides(path) && !listed {
			p.Unknown = append(p.Unknown, path)
		}
	}
	slices.Sort(p.Unknown)
	p.Unknown = slices.Compact(p.Unknown)
}
