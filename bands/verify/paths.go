package verify

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// damage combines the results of a checker with the paths whose content is lost.
func damage(ctx context.Context, s *bands.Store, c *checker, in []bands.Snapshot) (Damage, error) {
	d := Damage{Records: c.records, Bytes: c.bytes, Versions: c.versions, Deleted: c.deleted}
	if len(c.bad) == 0 {
		return d, nil
	}
	l := &loss{bad: c.bad, whole: map[recordID]bool{}, lost: map[recordID]map[string][]bands.Version{}}
	for _, v := range in {
		content, err := bands.OpenContent(s, v)
		if err != nil {
			return d, err
		}
		l.version, l.content = v.Version, content
		root, _ := v.Tree.Ref()
		_, err = l.directory(ctx, "", root)
		_ = content.Bands.Close()
		if err != nil {
			return d, err
		}
	}
	for id, err := range c.bad {
		bad := BadRecord{Band: id.band, Offset: id.offset, Kind: c.what[id].Kind, Hash: c.what[id].Ref.Hash, Err: err}
		for path, versions := range l.lost[id] {
			bad.Lost = append(bad.Lost, LostPath{path, versions})
		}
		slices.SortFunc(bad.Lost, func(a, b LostPath) int { return cmp.Compare(a.Path, b.Path) })
		d.Bad = append(d.Bad, bad)
	}
	slices.SortFunc(d.Bad, func(a, b BadRecord) int {
		return cmp.Or(cmp.Compare(a.Band, b.Band), cmp.Compare(a.Offset, b.Offset))
	})
	return d, nil
}

// loss finds the paths that need damaged records.
type loss struct {
	bad     map[recordID]error
	whole   map[recordID]bool // directories with nothing damaged below
	lost    map[recordID]map[string][]bands.Version
	version bands.Version
	content *bands.ContentReader
}

// note adds a path if the record is damaged, and reports whether it is.
func (l *loss) note(path string, ref band.Ref) bool {
	id := idOf(ref)
	if l.bad[id] == nil {
		return false
	}
	paths := l.lost[id]
	if paths == nil {
		paths = map[string][]bands.Version{}
		l.lost[id] = paths
	}
	paths[path] = append(paths[path], l.version)
	return true
}

// directory reports whether nothing in the directory or below is damaged.
func (l *loss) directory(ctx context.Context, path string, ref band.Ref) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if l.whole[idOf(ref)] {
		return true, nil
	}
	if l.note(band.ShownPath(path), ref) {
		return false, nil
	}
	d, err := l.content.Records.Header(ref)
	if err != nil {
		return false, nil //nolint:nilerr // it is noted
	}
	whole, err := l.entries(ctx, path, d.Entries)
	if err != nil {
		return false, err
	}
	for i := range d.Pages {
		p := &d.Pages[i]
		entries, err := l.content.Records.Page(p)
		if l.note(band.ShownPath(path), p.Ref) || err != nil {
			whole = false
			continue
		}
		ok, err := l.entries(ctx, path, entries)
		if err != nil {
			return false, err
		}
		whole = whole && ok
	}
	if whole {
		l.whole[idOf(ref)] = true
	}
	return whole, nil
}

func (l *loss) entries(ctx context.Context, path string, entries []band.Entry) (whole bool, err error) {
	whole = true
	for i := range entries {
		e := &entries[i]
		at := band.JoinPath(path, e.Name)
		ok := true
		switch {
		case e.Kind == band.Dir:
			if ok, err = l.directory(ctx, at, e.Content); err != nil {
				return false, err
			}
		case e.Kind != band.File || e.Size == 0:
		case l.note(at, e.Content):
			ok = false
		case e.Parts:
			list, err := l.content.Parts(e)
			lost := func(p band.Part) bool { return p.Kind != band.HolePart && l.note(at, p.Ref) }
			ok = err == nil && !slices.ContainsFunc(list, lost)
		}
		whole = whole && ok
	}
	return whole, nil
}
