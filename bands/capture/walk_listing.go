package capture

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/band"
)

// listing is a directory that differs from the cache. An entry that is as in the cache takes a few
// bytes of it.
type listing struct {
	own    StatLine
	attr   band.Attr
	before *former   // in the base; nil if there is none
	lines  statIndex // of the cache; lines that were seen have a place
	places []place   // the names, in the order of the file system
	items  []item    // the names that are not as in the cache
	byName map[string]int32
}

// place is a name in a listing: the number of a valid line of the cache or, if negative, the
// complement of the index of an item.
type place int32

// keep adds a line of the cache.
func (l *listing) keep(line int32) {
	l.lines.Seen[line] = true
	l.places = append(l.places, place(line))
}

// add adds an item.
func (l *listing) add(it item) {
	at := int32(len(l.items))
	l.places = append(l.places, place(^at))
	l.items = append(l.items, it)
	if l.byName != nil {
		l.byName[it.line.Name] = at
	}
}

// item returns the item of the name; nil if there is none.
func (l *listing) item(name string) *item {
	if l.byName == nil {
		l.byName = make(map[string]int32, len(l.items))
		for i := range l.items {
			l.byName[l.items[i].line.Name] = int32(i)
		}
	}
	if at, ok := l.byName[name]; ok {
		return &l.items[at]
	}
	return nil
}

// former is a directory in the base. Each page is loaded once, on first use.
type former struct {
	records *band.DirectoryLoader
	dir     *band.Directory // the header
	pages   map[string][]band.Entry
}

func newFormer(records *band.DirectoryLoader, rec band.StoredDirectory) (*former, error) {
	dir, err := records.Header(rec.Ref)
	if err != nil {
		return nil, errUnusable
	}
	return &former{records: records, dir: dir, pages: map[string][]band.Entry{}}, nil
}

// page loads the entries of a page.
func (f *former) page(p *band.Page) ([]band.Entry, error) {
	if entries, ok := f.pages[p.Last]; ok {
		return entries, nil
	}
	entries, err := f.records.Page(p)
	if err != nil {
		return nil, errUnusable
	}
	f.pages[p.Last] = entries
	return entries, nil
}

// find returns the entry of a name; nil if there is none.
func (f *former) find(name string) (*band.Entry, error) {
	entries := f.dir.Entries
	if len(f.dir.Pages) > 0 {
		at, ok := band.FindPage(f.dir.Pages, name)
		if !ok {
			return nil, nil //nolint:nilnil // there may be none
		}
		var err error
		if entries, err = f.page(&f.dir.Pages[at]); err != nil {
			return nil, err
		}
	}
	i, ok := slices.BinarySearchFunc(entries, name, func(e band.Entry, name string) int { return strings.Compare(e.Name, name) })
	if !ok {
		return nil, nil //nolint:nilnil // there may be none
	}
	return &entries[i], nil
}
