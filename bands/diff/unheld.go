package diff

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/restore"
)

// Uncompared returns the paths within the options whose content a side should hold and doesn't,
// sorted.
func Uncompared(ctx context.Context, o Options, sides ...Side) ([]string, error) {
	in, err := restore.Scope{Paths: o.Paths}.Compile(nil)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, s := range sides {
		if list, err = s.appendUnheld(ctx, list, in, "", s.root); err != nil {
			return nil, err
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// appendUnheld appends the unheld paths in a directory and below it.
func (s Side) appendUnheld(ctx context.Context, list []string, in *restore.Selection, path string, ref band.Ref) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d, err := band.LoadHeader(s.loader, ref)
	if err == nil && d.Totals.Unknown > 0 {
		d, err = s.loader.Directory(ref)
	}
	if band.IsDamaged(err) || err == nil && d.Totals.Unknown == 0 {
		return list, nil // the comparison reports damage
	}
	if err != nil {
		return nil, err
	}
	for i := range d.Entries {
		e := &d.Entries[i]
		at := band.JoinPath(path, e.Name)
		relation := in.Relate(at)
		switch {
		case relation == restore.Outside:
		case e.Kind == band.Dir:
			if list, err = s.appendUnheld(ctx, list, in, at, e.Content); err != nil {
				return nil, err
			}
		case e.Kind == band.Unknown && e.Reason.Unheld() && relation == restore.Inside:
			list = append(list, at)
		}
	}
	return list, nil
}
