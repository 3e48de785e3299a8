package bands

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/tree"
)

// listing is a directory that differs from the cache. What is as in the cache
// takes a few bytes of it.
type listing struct {
	own    statLine
	attr   tree.Attr
	before *former   // the base's; nil if there is none
	lines  statIndex // the cache's; those that were seen have a place
	places []place   // the names, in the order in which the file system has them
	items  []item    // those that are not as in the cache
	byName map[string]int32
}

// place is a name in a listing: the number of a line of the cache that holds,
// or, negative, the complement of the index of an item.
type place int32

// keep places a line of the cache.
func (l *listing) keep(line int32) {
	l.lines.seen[line] = true
	l.places = append(l.places, place(line))
}

// add places an item.
func (l *listing) add(it item) {
	at := int32(len(l.items))
	l.places = append(l.places, place(^at))
	l.items = append(l.items, it)
	if l.byName != nil {
		l.byName[it.line.name] = at
	}
}

// item is what was found under the name, if it is not as in the cache.
func (l *listing) item(name string) *item {
	if l.byName == nil {
		l.byName = make(map[string]int32, len(l.items))
		for i := range l.items {
			l.byName[l.items[i].line.name] = int32(i)
		}
	}
	if at, ok := l.byName[name]; ok {
		return &l.items[at]
	}
	return nil
}

// edit makes an item of a name that is as in the cache; nil if there is none.
func (l *listing) edit(name string) (*item, error) {
	line, ok := l.lines.lookup(name)
	if !ok {
		return nil, nil //nolint:nilnil // no item is an answer
	}
	at := slices.Index(l.places, place(line))
	if at < 0 {
		return nil, nil //nolint:nilnil // no item is an answer
	}
	it := item{line: l.lines.line(line)}
	switch it.line.kind {
	case statDir:
		return nil, nil //nolint:nilnil // a directory is no item
	case statFile:
		e, err := l.before.find(name)
		if err != nil || e == nil {
			return nil, errBadCache
		}
		it.entry = *e
	}
	l.add(it)
	l.places = l.places[:len(l.places)-1]
	l.places[at] = place(^int32(len(l.items) - 1))
	return &l.items[len(l.items)-1], nil
}

// former is a directory as the base has it. Pages are loaded when they are
// needed, once.
type former struct {
	records *tree.Records
	dir     *tree.Directory // the header
	pages   map[string][]tree.Entry
}

func newFormer(records *tree.Records, rec dirRecord) (*former, error) {
	dir, err := records.Header(rec.ref)
	if err != nil {
		return nil, errBadCache
	}
	return &former{records: records, dir: dir, pages: map[string][]tree.Entry{}}, nil
}

// page loads the entries of a page.
func (f *former) page(p *tree.Page) ([]tree.Entry, error) {
	if entries, ok := f.pages[p.Last]; ok {
		return entries, nil
	}
	entries, err := f.records.Page(p)
	if err != nil {
		return nil, errBadCache
	}
	f.pages[p.Last] = entries
	return entries, nil
}

// find is the entry of a name; nil if there is none.
func (f *former) find(name string) (*tree.Entry, error) {
	entries := f.dir.Entries
	if len(f.dir.Pages) > 0 {
		at, ok := tree.FindPage(f.dir.Pages, name)
		if !ok {
			return nil, nil //nolint:nilnil // no entry is an answer
		}
		var err error
		if entries, err = f.page(&f.dir.Pages[at]); err != nil {
			return nil, err
		}
	}
	i, ok := slices.BinarySearchFunc(entries, name, func(e tree.Entry, name string) int { return strings.Compare(e.Name, name) })
	if !ok {
		return nil, nil //nolint:nilnil // no entry is an answer
	}
	return &entries[i], nil
}

// statIndex finds the lines of a block by their numbers and names.
type statIndex struct {
	block  string
	starts []uint32
	seen   []bool
	next   int32 // the line after the one that was found last
	byName map[string]int32
}

// index makes the index of a directory's lines; false if the block is no good.
func (d statDirectory) index() (statIndex, bool) {
	x := statIndex{block: d.block, starts: make([]uint32, 0, d.count()), seen: make([]bool, d.count())}
	var e statLine
	lines := d.lines()
	for at := len(d.block) - len(lines.rest); lines.next(&e); at = len(d.block) - len(lines.rest) {
		x.starts = append(x.starts, uint32(at))
	}
	return x, !lines.bad
}

// text is a line as it is in the block.
func (x *statIndex) text(line int32) string {
	if int(line)+1 < len(x.starts) {
		return x.block[x.starts[line]:x.starts[line+1]]
	}
	rest := x.block[x.starts[line]:]
	return rest[:statEntry+(int(rest[0])|int(rest[1])<<8)]
}

func (x *statIndex) name(line int32) string { return x.text(line)[statEntry:] }

func (x *statIndex) line(line int32) (e statLine) {
	lines := statLines{rest: x.text(line), left: 1}
	lines.next(&e)
	return e
}

// find is lookup for names that mostly come in the order of the lines.
func (x *statIndex) find(name string) (int32, bool) {
	const ahead = 4 // some names may have gone
	for line := x.next; int(line) < len(x.starts) && line < x.next+ahead; line++ {
		if x.name(line) == name {
			x.next = line + 1
			return line, true
		}
	}
	line, ok := x.lookup(name)
	if ok {
		x.next = line + 1
	}
	return line, ok
}

// lookup is the number of the line with the name.
func (x *statIndex) lookup(name string) (int32, bool) {
	if x.byName == nil {
		x.byName = make(map[string]int32, len(x.starts))
		for i := range x.starts {
			x.byName[x.name(int32(i))] = int32(i)
		}
	}
	line, ok := x.byName[name]
	return line, ok
}
