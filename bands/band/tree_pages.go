package band

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Page is a part of the entries of a large directory: those with names after Last of the previous
// page and up to its own Last. The boundaries depend only on the directory's names, so that
// directories with the same entries have the same pages, and a change of one entry changes one
// page.
type Page struct {
	Last   string // name of the last entry
	Count  int    // of entries
	Totals Totals // of the entries and everything below
	// Bands are the bands that the entries and everything below refer to, ascending.
	Bands []uint32
	Ref   Ref
}

const (
	// FlatEntries is the maximum number of entries of a directory without pages.
	FlatEntries = 512
	// A page has at least pageLeast entries, unless it is the last, and at most pageMost. In
	// between, one name in pageEnds ends it.
	pageLeast = 128
	pageMost  = 512
	pageEnds  = 128
)

// endsPage reports whether a page of n entries ends with the entry name.
func endsPage(name string, n int) bool {
	switch {
	case n < pageLeast:
		return false
	case n >= pageMost:
		return true
	}
	sum := sha256.Sum256([]byte(name))
	return binary.LittleEndian.Uint32(sum[:])%pageEnds == 0
}

// pageBands returns the bands that a directory with the pages refers to.
func pageBands(pages []Page) []uint32 {
	seen := map[uint32]bool{}
	for i := range pages {
		seen[pages[i].Ref.Band] = true
		for _, b := range pages[i].Bands {
			seen[b] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// SetPages makes the directory the header of the pages.
func (d *Directory) SetPages(pages []Page) {
	d.Entries, d.Totals, d.Pages = nil, Totals{}, pages
	for i := range pages {
		d.Totals.Add(pages[i].Totals)
	}
	d.Bands = pageBands(pages)
}

// FindPage returns the index of the page for the name; false if there is none.
func FindPage(pages []Page, name string) (int, bool) {
	i, _ := slices.BinarySearchFunc(pages, name, func(p Page, name string) int { return strings.Compare(p.Last, name) })
	return i, i < len(pages)
}

// Edit sets or removes an entry of a directory.
type Edit struct {
	Name  string
	Entry *Entry // nil removes it
}

// Pager reads and writes pages.
type Pager struct {
	// Load loads the entries of a page.
	Load func(p *Page) ([]Entry, error)
	// Store stores the entries of a page, and fills in its Totals, Bands and Ref.
	Store func(entries []Entry, p *Page) error
}

// Apply edits a directory's pages. The edits are sorted by name, without duplicates. Pages
// without edits are neither loaded nor stored, except for the few that follow a page whose end
// has moved.
func (g Pager) Apply(pages []Page, edits []Edit) ([]Page, error) {
	w := pageWriter{store: g.Store}
	for i := range pages {
		p := &pages[i]
		here := edits
		if i < len(pages)-1 {
			n, found := slices.BinarySearchFunc(edits, p.Last, func(e Edit, name string) int { return strings.Compare(e.Name, name) })
			if found {
				n++
			}
			here = edits[:n]
		}
		edits = edits[len(here):]
		if len(here) == 0 && len(w.entries) == 0 {
			w.pages = append(w.pages, *p) // its first entry is unchanged
			continue
		}
		entries, err := g.Load(p)
		if err != nil {
			return nil, err
		}
		if err := w.add(ApplyEdits(entries, here)); err != nil {
			return nil, err
		}
	}
	if err := w.add(ApplyEdits(nil, edits)); err != nil {
		return nil, err
	}
	err := w.end()
	return w.pages, err
}

// Split divides the entries of a directory into pages.
func (g Pager) Split(entries iter.Seq[*Entry]) ([]Page, error) {
	w := pageWriter{store: g.Store}
	if err := w.add(entries); err != nil {
		return nil, err
	}
	err := w.end()
	return w.pages, err
}

// Count returns the number of entries that the directory has after the edits.
func (g Pager) Count(pages []Page, edits []Edit) (int, error) {
	n := 0
	for i := range pages {
		n += pages[i].Count
	}
	for _, e := range edits {
		if e.Entry != nil {
			n++
		}
		i, ok := FindPage(pages, e.Name)
		if !ok {
			continue
		}
		entries, err := g.Load(&pages[i])
		if err != nil {
			return 0, err
		}
		if _, had := find(entries, e.Name); had {
			n--
		}
	}
	return n, nil
}

// ApplyEdits yields the entries with the edits applied, by name.
func ApplyEdits(entries []Entry, edits []Edit) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for len(entries) > 0 || len(edits) > 0 {
			var next *Entry
			order := -1
			if len(entries) == 0 {
				order = 1
			} else if len(edits) > 0 {
				order = strings.Compare(entries[0].Name, edits[0].Name)
			}
			if order <= 0 {
				next, entries = &entries[0], entries[1:]
			}
			if order >= 0 {
				next, edits = edits[0].Entry, edits[1:]
			}
			if next != nil && !yield(next) {
				return
			}
		}
	}
}

// pageWriter divides entries into pages.
type pageWriter struct {
	store   func(entries []Entry, p *Page) error
	entries []Entry // of the current page
	pages   []Page
}

func (w *pageWriter) add(entries iter.Seq[*Entry]) error {
	for e := range entries {
		w.entries = append(w.entries, *e)
		if !endsPage(e.Name, len(w.entries)) {
			continue
		}
		if err := w.end(); err != nil {
			return err
		}
	}
	return nil
}

// end stores the current page.
func (w *pageWriter) end() error {
	if len(w.entries) == 0 {
		return nil
	}
	p := Page{Last: w.entries[len(w.entries)-1].Name, Count: len(w.entries)}
	if err := w.store(w.entries, &p); err != nil {
		return err
	}
	w.pages, w.entries = append(w.pages, p), w.entries[:0]
	return nil
}

// pager is a Loader that loads large directories in pages.
type pager interface {
	// Header loads a directory's record, which has no Entries if it has pages.
	Header(ref Ref) (*Directory, error)
	// Page loads the entries of a page. Callers must not modify them.
	Page(p *Page) ([]Entry, error)
}

// LoadHeader loads a directory without the entries that are in pages. If the Loader doesn't support
// pages it loads the whole directory.
func LoadHeader(l Loader, ref Ref) (*Directory, error) {
	if ref.IsZero() {
		return &Directory{}, nil
	}
	if p, ok := l.(pager); ok {
		return p.Header(ref)
	}
	return l.Directory(ref)
}

// AssembleDirectory returns the header's directory with the entries of all its pages.
func AssembleDirectory(header *Directory, load func(p *Page) ([]Entry, error)) (*Directory, error) {
	if len(header.Pages) == 0 {
		return header, nil
	}
	whole := *header
	for i := range header.Pages {
		entries, err := load(&header.Pages[i])
		if err != nil {
			return nil, err
		}
		if err := follows(header.Pages, i, entries); err != nil {
			return nil, err
		}
		whole.Entries = append(whole.Entries, entries...)
	}
	return &whole, nil
}

// follows checks that the entries of the i-th page are after those of the previous page.
func follows(pages []Page, i int, entries []Entry) error {
	if i > 0 && entries[0].Name <= pages[i-1].Last {
		return &DamageError{Band: pages[i].Ref.Band, Offset: pages[i].Ref.Offset, What: "the page belongs to another directory"}
	}
	return nil
}

// find returns the index of the name among the entries, or where it would be inserted.
func find(entries []Entry, name string) (int, bool) {
	return slices.BinarySearchFunc(entries, name, func(e Entry, name string) int { return strings.Compare(e.Name, name) })
}
