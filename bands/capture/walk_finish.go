package capture

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/seed-3aff656d/entire/bands/band"
)

// settle stores a directory that differs from the cache, and releases what was read of it.
func (r *reader) settle(n *node) error {
	s := settling{reader: r, n: n, list: n.found, kids: make(map[string]*node, len(n.differing)), below: map[string]band.StoredDirectory{}}
	n.found = nil
	for _, kid := range n.differing {
		s.kids[kid.name] = kid
	}
	if s.list == nil {
		// Only subdirectories differ.
		lines, ok := n.old.index()
		if !ok {
			return errUnusable
		}
		before, err := newFormer(r.base, n.old.Record())
		if err != nil {
			return err
		}
		places := make([]place, 0, len(lines.Starts))
		s.list = &listing{own: n.old.Stat(), attr: before.dir.Attr, before: before, lines: lines, places: places}
		for i := range lines.Starts {
			s.list.keep(int32(i))
		}
		moved := slices.ContainsFunc(n.differing, func(kid *node) bool {
			return kid.out.state != storedAnew || !kid.old.Known() || kid.out.record.Ref != kid.old.Record().Ref
		})
		if !moved {
			// All records below are the same; only the cache differs.
			return s.end(n.old.Record())
		}
	}
	s.collect()
	dir, err := s.directory()
	if err != nil {
		return err
	}
	r.enc = dir.Encode(r.enc[:0])
	rec := band.StoredDirectory{Totals: dir.Totals, Bands: dir.Bands}
	if was := n.old; was.Known() && was.Record().Ref.Hash == sha256.Sum256(r.enc) {
		rec.Ref, err = r.to.keep(was.Record().Ref, band.DirectoryRecord, r.enc)
	} else {
		rec.Ref, err = r.to.directory(band.DirectoryRecord, dir, r.enc)
	}
	if err != nil {
		return kept(err)
	}
	return s.end(rec)
}

// settling is the state of settle.
type settling struct {
	*reader

	n     *node
	list  *listing
	kids  map[string]*node // subdirectories that differ
	edits []band.Edit
	below map[string]band.StoredDirectory // the totals and bands of entries of edits
}

// collect collects the edits that turn the former directory into the present one.
func (s *settling) collect() {
	for _, p := range s.list.places {
		if p >= 0 {
			if len(s.kids) == 0 {
				continue
			}
			if kid := s.kids[s.list.lines.Name(int32(p))]; kid != nil {
				s.kid(kid)
			}
			continue
		}
		it := &s.list.items[^p]
		if it.kid != nil {
			s.kid(it.kid)
			continue
		}
		edit := band.Edit{Name: it.line.Name}
		if it.entry.Kind != 0 && it.line.Kind != statPending {
			edit.Entry = &it.entry
		}
		if it.entry.Parts {
			s.below[edit.Name] = band.StoredDirectory{Bands: it.bands}
		}
		s.edits = append(s.edits, edit)
	}
	for line, seen := range s.list.lines.Seen {
		if !seen {
			s.edits = append(s.edits, band.Edit{Name: s.list.lines.Name(int32(line))})
		}
	}
	// A line that was not kept may have an item, too: the removal is sorted last.
	slices.SortFunc(s.edits, func(a, b band.Edit) int {
		c := cmp.Compare(a.Name, b.Name)
		switch {
		case c != 0 || (a.Entry == nil) == (b.Entry == nil):
			return c
		case b.Entry == nil:
			return -1
		}
		return 1
	})
	s.edits = slices.CompactFunc(s.edits, func(a, b band.Edit) bool { return a.Name == b.Name })
}

func (s *settling) kid(kid *node) {
	edit := band.Edit{Name: kid.name}
	switch kid.out.state {
	case gone:
	case unknown:
		e := unknownEntry(kid.name, kid.out.reason, &kid.st)
		edit.Entry = &e
	default:
		rec := kid.settled()
		edit.Entry = &band.Entry{Name: kid.name, Kind: band.Dir, Content: rec.Ref}
		s.below[edit.Name] = rec
	}
	s.edits = append(s.edits, edit)
}

// directory returns the directory to store, in pages if it has many entries.
func (s *settling) directory() (*band.Directory, error) {
	var before band.Directory
	pager := band.Pager{Store: s.page}
	if f := s.list.before; f != nil {
		before = *f.dir
		pager.Load = f.page
	}
	dir := &band.Directory{Attr: s.list.attr}
	count, err := pager.Count(before.Pages, s.edits)
	if err != nil {
		return nil, err
	}
	if len(before.Pages) == 0 {
		count = 0
		for range band.ApplyEdits(before.Entries, s.edits) {
			count++
		}
	}
	if count <= band.FlatEntries {
		whole, err := band.AssembleDirectory(&before, pager.Load)
		if err != nil {
			return nil, errUnusable
		}
		for e := range band.ApplyEdits(whole.Entries, s.edits) {
			dir.Entries = append(dir.Entries, *e)
		}
		dir.Totals, dir.Bands, err = SumEntries(dir.Entries, s.under)
		return dir, err
	}
	var pages []band.Page
	if len(before.Pages) > 0 {
		pages, err = pager.Apply(before.Pages, s.edits)
	} else {
		pages, err = pager.Split(band.ApplyEdits(before.Entries, s.edits))
	}
	if err != nil {
		return nil, err
	}
	dir.SetPages(pages)
	return dir, nil
}

// page stores a page, unless the former directory has it.
func (s *settling) page(entries []band.Entry, p *band.Page) (err error) {
	if p.Totals, p.Bands, err = SumEntries(entries, s.under); err != nil {
		return err
	}
	s.enc = band.EncodePage(entries, s.enc[:0])
	hash := band.Hash(sha256.Sum256(s.enc))
	if f := s.list.before; f != nil {
		if at, ok := band.FindPage(f.dir.Pages, p.Last); ok && f.dir.Pages[at].Ref.Hash == hash {
			p.Ref, err = s.to.keep(f.dir.Pages[at].Ref, band.PageRecord, s.enc)
			return kept(err)
		}
	}
	p.Ref, err = s.to.directory(band.PageRecord, &band.Directory{Entries: entries}, s.enc)
	return kept(err)
}

// SumEntries returns the totals of the entries and of everything below, and the bands that they
// refer to. under returns the record of a directory, or the bands of a list of parts.
func SumEntries(entries []band.Entry, under func(*band.Entry) (band.StoredDirectory, error)) (totals band.Totals, bands []uint32, err error) {
	part := band.Directory{Entries: entries}
	below := [][]uint32{part.OwnBands()}
	for i := range entries {
		e := &entries[i]
		countEntry(&totals, e)
		if e.Kind != band.Dir && !e.Parts {
			continue
		}
		rec, err := under(e)
		if err != nil {
			return totals, nil, err
		}
		totals.Add(rec.Totals)
		below = append(below, rec.Bands)
	}
	return totals, band.UnionBands(below...), nil
}

// countEntry adds an entry, without its contents, to the totals.
func countEntry(totals *band.Totals, e *band.Entry) {
	switch e.Kind {
	case band.File, band.Symlink:
		totals.Files++
		totals.Bytes += e.Size
	case band.Dir:
		totals.Dirs++
	case band.Unknown:
		totals.Unknown++
	}
}

// under returns the totals below a directory, or the bands that a list of parts refers to.
func (s *settling) under(e *band.Entry) (band.StoredDirectory, error) {
	if rec, ok := s.below[e.Name]; ok {
		return rec, nil
	}
	if e.Parts {
		parts, err := s.base.Parts(e.Content)
		if err != nil {
			return band.StoredDirectory{}, errUnusable
		}
		return band.StoredDirectory{Bands: BandsOf(parts)}, nil
	}
	line, ok := s.list.lines.Lookup(e.Name)
	if !ok {
		return band.StoredDirectory{}, errUnusable
	}
	old, ok := s.cache.Child(s.n.old, s.list.lines.Line(line))
	if !ok {
		return band.StoredDirectory{}, errUnusable
	}
	return old.Record(), nil
}

// end sets the outcome of a directory that was stored as rec, with its listing for the stat cache.
func (s *settling) end(rec band.StoredDirectory) error {
	l := s.list
	s.noteAgain()
	n := newStatNode(l.own, rec, len(l.lines.Block)+len(l.items)*(statLineLength+16))
	for _, p := range l.places {
		if p < 0 {
			if it := &l.items[^p]; it.kid != nil {
				addSubdirectory(n, it.kid)
			} else if it.line.Kind != statPending {
				n.Add(&it.line)
			}
			continue
		}
		text := l.lines.Text(int32(p))
		if text[2] != statDir {
			n.AddText(text)
			continue
		}
		if kid := s.kids[text[statLineLength:]]; kid != nil {
			addSubdirectory(n, kid)
			continue
		}
		old, ok := s.cache.Child(s.n.old, l.lines.Line(int32(p)))
		if !ok {
			return errUnusable
		}
		n.AddDir(text[statLineLength:], statSubdirectory{Old: old})
	}
	s.n.out = outcome{state: storedAnew, record: rec, stat: n}
	return nil
}

// noteAgain notes the paths that are in the cache without an inode, so that they never match.
func (s *settling) noteAgain() {
	if !s.notesAgain {
		return
	}
	path := s.n.path()
	var again TouchedPaths
	if s.list.own.Ino == 0 {
		again.Dirs = append(again.Dirs, path)
	}
	for i := range s.list.items {
		it := &s.list.items[i]
		unsure := it.kid == nil && it.line.Kind == statFile && it.line.Ino == 0
		if unsure || it.kid != nil && it.kid.out.state == unknown {
			again.Files = append(again.Files, band.JoinPath(path, it.line.Name))
		}
	}
	for name, kid := range s.kids {
		if kid.out.state == unknown {
			again.Files = append(again.Files, band.JoinPath(path, name))
		}
	}
	if len(again.Files)+len(again.Dirs) > 0 {
		s.note(func(all *notes) { all.again.Add(again) })
	}
}

// addSubdirectory appends an entry for a subdirectory that was visited.
func addSubdirectory(n *statNode, kid *node) {
	switch kid.out.state {
	case asBefore:
		n.AddDir(kid.name, statSubdirectory{Old: kid.old})
	case storedAnew:
		n.AddDir(kid.name, statSubdirectory{Node: kid.out.stat})
	case unknown:
		// Without an inode: the next walk tries again.
		n.Add(&StatLine{Name: kid.name, Kind: statFile, Mode: kid.st.Mode})
	case gone:
	}
}
