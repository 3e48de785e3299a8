package bands

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// finish settles a directory whose subdirectories are all finished.
func (r *reader) finish(n *node) error {
	if n.out.state == asBefore {
		if n.found == nil && len(n.differing) == 0 {
			return nil
		}
		if err := r.settle(n); err != nil {
			return err
		}
	}
	if n.parent != nil {
		n.parent.differs(n)
	}
	return nil
}

// settle stores a directory that differs from the cache. What was read of it is
// not needed any more.
func (r *reader) settle(n *node) error {
	list := n.found
	n.found = nil
	if list == nil {
		var err error
		if list, err = r.relist(n); err != nil {
			return err
		}
		if !n.moved() {
			// Every record below is the same: only the cache isn't.
			rec := n.old.record()
			n.out = outcome{state: storedAnew, record: rec, stat: list.block(rec)}
			return nil
		}
		if err := r.recall(n, list); err != nil {
			return err
		}
	}
	d := list.directory()
	r.enc = d.Encode(r.enc[:0])
	rec := dirRecord{totals: d.Totals, bands: d.Bands}
	if was := n.old; was.known() && was.record().ref.Hash == sha256.Sum256(r.enc) {
		ref, err := r.to.keep(was.record().ref, band.Directory, r.enc)
		if err != nil {
			return kept(err)
		}
		rec.ref = ref
	} else {
		ref, err := r.to.directory(d, r.enc)
		if err != nil {
			return kept(err)
		}
		rec.ref = ref
	}
	n.out = outcome{state: storedAnew, record: rec, stat: list.block(rec)}
	return nil
}

// moved says whether a subdirectory has another record than in the cache.
func (n *node) moved() bool {
	return slices.ContainsFunc(n.differing, func(kid *node) bool {
		return kid.out.state != storedAnew || !kid.old.known() || kid.out.record.ref != kid.old.record().ref
	})
}

// relist is the listing of a directory in which only subdirectories differ.
func (r *reader) relist(n *node) (*listing, error) {
	kids := make(map[string]*node, len(n.differing))
	for _, kid := range n.differing {
		kids[kid.name] = kid
	}
	list := &listing{own: n.old.own(), items: make([]item, 0, n.old.count())}
	var e statLine
	for lines := n.old.lines(); lines.next(&e); {
		it := item{line: e}
		if e.kind == statDir {
			var ok bool
			if it.kept, ok = r.cache.child(n.old, e); !ok {
				return nil, errBadCache
			}
			it.kid = kids[e.name]
		}
		list.items = append(list.items, it)
	}
	return list, nil
}

// recall fills in what was stored of the items.
func (r *reader) recall(n *node, list *listing) error {
	before, err := r.base.Directory(n.old.record().ref)
	if err != nil {
		return errBadCache
	}
	list.before, list.attr = before, before.Attr
	for i := range list.items {
		it := &list.items[i]
		if it.line.kind == statPart || it.line.kind == statDir {
			continue
		}
		at, ok := before.Find(it.line.name)
		if !ok {
			return errBadCache
		}
		it.entry = before.Entries[at]
		if !it.entry.Parts {
			continue
		}
		parts, err := r.base.Parts(it.entry.Content)
		if err != nil {
			return errBadCache
		}
		it.bands = bandsOf(parts)
	}
	return nil
}

// directory is what the listing is stored as.
func (l *listing) directory() *tree.Directory {
	d := &tree.Directory{Attr: l.attr, Entries: make([]tree.Entry, 0, len(l.items))}
	var below [][]uint32
	for i := range l.items {
		it := &l.items[i]
		e := it.entry
		if it.isDir() {
			var rec dirRecord
			e, rec = it.dirEntry()
			below = append(below, rec.bands)
			d.Totals.Add(rec.totals)
		}
		switch e.Kind {
		case tree.File, tree.Symlink:
			d.Totals.Files++
			d.Totals.Bytes += e.Size
		case tree.Dir:
			d.Totals.Dirs++
		case tree.Unknown:
			d.Totals.Unknown++
		default:
			continue // no entry of the tree
		}
		below = append(below, it.bands)
		d.Entries = append(d.Entries, e)
	}
	slices.SortFunc(d.Entries, func(a, b tree.Entry) int { return strings.Compare(a.Name, b.Name) })
	d.Bands = tree.Merge(append(below, d.OwnBands())...)
	return d
}

// isDir says whether the item is a directory that was entered.
func (it *item) isDir() bool { return it.kid != nil || it.kept.known() }

// dirEntry is the entry of a directory that was entered, and its record.
func (it *item) dirEntry() (tree.Entry, dirRecord) {
	rec := it.kept.record()
	if it.kid != nil {
		switch it.kid.out.state {
		case gone:
			return tree.Entry{}, dirRecord{}
		case unknown:
			return unknownEntry(it.kid.name, it.kid.out.reason, &it.kid.st), dirRecord{}
		default:
			rec = it.kid.settled()
		}
	}
	return tree.Entry{Name: it.line.name, Kind: tree.Dir, Content: rec.ref}, rec
}

// block is the listing as the stat cache has it.
func (l *listing) block(rec dirRecord) *statNode {
	n := newStatNode(l.own, rec, len(l.items))
	for i := range l.items {
		it := &l.items[i]
		switch {
		case it.kid == nil && it.kept.known():
			n.addDir(it.line.name, statKid{old: it.kept})
		case it.kid == nil:
			n.add(&it.line)
		case it.kid.out.state == asBefore:
			n.addDir(it.line.name, statKid{old: it.kid.old})
		case it.kid.out.state == storedAnew:
			n.addDir(it.line.name, statKid{node: it.kid.out.stat})
		case it.kid.out.state == unknown:
			// No inode: the next walk tries again.
			n.add(&statLine{name: it.line.name, kind: statFile, mode: it.kid.st.Mode})
		}
	}
	return n
}
