package bands

import (
	"cmp"
	"crypto/sha256"
	"slices"

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
	s := settling{reader: r, n: n, list: n.found, kids: make(map[string]*node, len(n.differing)), below: map[string]dirRecord{}}
	n.found = nil
	for _, kid := range n.differing {
		s.kids[kid.name] = kid
	}
	if s.list == nil {
		if err := s.relist(); err != nil {
			return err
		}
		if !n.moved() {
			// Every record below is the same: only the cache isn't.
			return s.end(n.old.record())
		}
	}
	rec, err := s.store()
	if err != nil {
		return err
	}
	return s.end(rec)
}

// moved says whether a subdirectory has another record than in the cache.
func (n *node) moved() bool {
	return slices.ContainsFunc(n.differing, func(kid *node) bool {
		return kid.out.state != storedAnew || !kid.old.known() || kid.out.record.ref != kid.old.record().ref
	})
}

// settling is the end of the work on one directory.
type settling struct {
	*reader

	n     *node
	list  *listing
	kids  map[string]*node // subdirectories that differ
	edits []tree.Edit
	below map[string]dirRecord // what is below the entries of edits
}

// relist makes the listing of a directory in which only subdirectories differ.
func (s *settling) relist() error {
	lines, ok := s.n.old.index()
	if !ok {
		return errBadCache
	}
	before, err := newFormer(s.base, s.n.old.record())
	if err != nil {
		return err
	}
	s.list = &listing{own: s.n.old.own(), attr: before.dir.Attr, before: before, lines: lines, places: make([]place, 0, len(lines.starts))}
	for i := range lines.starts {
		s.list.keep(int32(i))
	}
	return nil
}

// end makes the outcome of a directory that was stored as rec.
func (s *settling) end(rec dirRecord) error {
	block, err := s.block(rec)
	s.n.out = outcome{state: storedAnew, record: rec, stat: block}
	return err
}

// store stores the directory, or finds that it is what was stored before.
func (s *settling) store() (rec dirRecord, err error) {
	s.collect()
	dir, err := s.directory()
	if err != nil {
		return rec, err
	}
	s.enc = dir.Encode(s.enc[:0])
	rec = dirRecord{totals: dir.Totals, bands: dir.Bands}
	if was := s.n.old; was.known() && was.record().ref.Hash == sha256.Sum256(s.enc) {
		rec.ref, err = s.to.keep(was.record().ref, band.Directory, s.enc)
		return rec, kept(err)
	}
	rec.ref, err = s.to.directory(band.Directory, dir, s.enc)
	return rec, kept(err)
}

// collect finds the edits that make the directory of the one before.
func (s *settling) collect() {
	for _, p := range s.list.places {
		if p < 0 {
			s.item(&s.list.items[^p])
			continue
		}
		if len(s.kids) == 0 {
			continue
		}
		if kid := s.kids[s.list.lines.name(int32(p))]; kid != nil {
			s.kid(kid)
		}
	}
	for line, seen := range s.list.lines.seen {
		if !seen {
			s.edits = append(s.edits, tree.Edit{Name: s.list.lines.name(int32(line))})
		}
	}
	// A line that was not kept may have an item.
	slices.SortFunc(s.edits, func(a, b tree.Edit) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), compareBool(a.Entry == nil, b.Entry == nil))
	})
	s.edits = slices.CompactFunc(s.edits, func(a, b tree.Edit) bool { return a.Name == b.Name })
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (s *settling) item(it *item) {
	if it.kid != nil {
		s.kid(it.kid)
		return
	}
	edit := tree.Edit{Name: it.line.name}
	if it.entry.Kind != 0 && it.line.kind != statPending {
		edit.Entry = &it.entry
	}
	if it.entry.Parts {
		s.below[edit.Name] = dirRecord{bands: it.bands}
	}
	s.edits = append(s.edits, edit)
}

func (s *settling) kid(kid *node) {
	edit := tree.Edit{Name: kid.name}
	switch kid.out.state {
	case gone:
	case unknown:
		e := unknownEntry(kid.name, kid.out.reason, &kid.st)
		edit.Entry = &e
	default:
		rec := kid.settled()
		edit.Entry = &tree.Entry{Name: kid.name, Kind: tree.Dir, Content: rec.ref}
		s.below[edit.Name] = rec
	}
	s.edits = append(s.edits, edit)
}

// directory is what is stored: pages where there are many entries.
func (s *settling) directory() (*tree.Directory, error) {
	var before tree.Directory
	pager := tree.Pager{Store: s.page}
	if f := s.list.before; f != nil {
		before = *f.dir
		pager.Load = f.page
	}
	dir := &tree.Directory{Attr: s.list.attr}
	count, err := pager.Count(before.Pages, s.edits)
	if err != nil {
		return nil, err
	}
	if len(before.Pages) == 0 {
		count = 0
		for range tree.Merged(before.Entries, s.edits) {
			count++
		}
	}
	var pages []tree.Page
	switch {
	case count <= tree.FlatEntries:
		return dir, s.flat(dir, &before, pager)
	case len(before.Pages) > 0:
		pages, err = pager.Apply(before.Pages, s.edits)
	default:
		pages, err = pager.Split(tree.Merged(before.Entries, s.edits))
	}
	if err != nil {
		return nil, err
	}
	dir.SetPages(pages)
	return dir, nil
}

// flat fills in a directory without pages.
func (s *settling) flat(dir, before *tree.Directory, pager tree.Pager) error {
	whole, err := tree.Assemble(before, pager.Load)
	if err != nil {
		return errBadCache
	}
	for e := range tree.Merged(whole.Entries, s.edits) {
		dir.Entries = append(dir.Entries, *e)
	}
	dir.Totals, dir.Bands, err = s.sum(dir.Entries)
	return err
}

// page stores a page, or finds it among those before.
func (s *settling) page(entries []tree.Entry, p *tree.Page) (err error) {
	if p.Totals, p.Bands, err = s.sum(entries); err != nil {
		return err
	}
	s.enc = tree.EncodePage(entries, s.enc[:0])
	hash := band.Hash(sha256.Sum256(s.enc))
	if f := s.list.before; f != nil {
		if at, ok := tree.FindPage(f.dir.Pages, p.Last); ok && f.dir.Pages[at].Ref.Hash == hash {
			p.Ref, err = s.to.keep(f.dir.Pages[at].Ref, band.Page, s.enc)
			return kept(err)
		}
	}
	p.Ref, err = s.to.directory(band.Page, &tree.Directory{Entries: entries}, s.enc)
	return kept(err)
}

// sum counts what entries and all below have, and the bands that they refer to.
func (s *settling) sum(entries []tree.Entry) (totals tree.Totals, bands []uint32, err error) {
	part := tree.Directory{Entries: entries}
	below := [][]uint32{part.OwnBands()}
	for i := range entries {
		e := &entries[i]
		switch e.Kind {
		case tree.File, tree.Symlink:
			totals.Files++
			totals.Bytes += e.Size
		case tree.Dir:
			totals.Dirs++
		case tree.Unknown:
			totals.Unknown++
		}
		if e.Kind != tree.Dir && !e.Parts {
			continue
		}
		rec, err := s.under(e)
		if err != nil {
			return totals, nil, err
		}
		totals.Add(rec.totals)
		below = append(below, rec.bands)
	}
	return totals, tree.Merge(below...), nil
}

// under is what is below a directory, and the bands that a list of parts names.
func (s *settling) under(e *tree.Entry) (dirRecord, error) {
	if rec, ok := s.below[e.Name]; ok {
		return rec, nil
	}
	if e.Parts {
		parts, err := s.base.Parts(e.Content)
		if err != nil {
			return dirRecord{}, errBadCache
		}
		return dirRecord{bands: bandsOf(parts)}, nil
	}
	line, ok := s.list.lines.lookup(e.Name)
	if !ok {
		return dirRecord{}, errBadCache
	}
	old, ok := s.cache.child(s.n.old, s.list.lines.line(line))
	if !ok {
		return dirRecord{}, errBadCache
	}
	return old.record(), nil
}

// block is the listing as the stat cache has it.
func (s *settling) block(rec dirRecord) (*statNode, error) {
	l := s.list
	n := newStatNode(l.own, rec, len(l.lines.block)+len(l.items)*(statEntry+16))
	for _, p := range l.places {
		if p < 0 {
			if it := &l.items[^p]; it.kid != nil {
				n.addKid(it.kid)
			} else if it.line.kind != statPending {
				n.add(&it.line)
			}
			continue
		}
		text := l.lines.text(int32(p))
		if text[2] != statDir {
			n.addText(text)
			continue
		}
		if kid := s.kids[text[statEntry:]]; kid != nil {
			n.addKid(kid)
			continue
		}
		old, ok := s.cache.child(s.n.old, l.lines.line(int32(p)))
		if !ok {
			return nil, errBadCache
		}
		n.addDir(text[statEntry:], statKid{old: old})
	}
	return n, nil
}
