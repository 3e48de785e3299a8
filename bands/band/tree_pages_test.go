package band_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// paged is a Loader of directories with pages that were never written. It counts the loaded and
// the stored pages.
type paged struct {
	headers        map[band.Ref]*band.Directory
	pages          map[band.Ref][]band.Entry
	loaded, stored int
}

func newPaged() *paged {
	return &paged{headers: map[band.Ref]*band.Directory{}, pages: map[band.Ref][]band.Entry{}}
}

func (m *paged) Directory(ref band.Ref) (*band.Directory, error) {
	header, err := m.Header(ref)
	if err != nil {
		return nil, err
	}
	return band.AssembleDirectory(header, m.Page)
}

func (m *paged) Header(ref band.Ref) (*band.Directory, error) {
	if d, ok := m.headers[ref]; ok {
		return d, nil
	}
	return nil, fmt.Errorf("no directory %v", ref)
}

func (m *paged) Page(p *band.Page) ([]band.Entry, error) {
	m.loaded++
	if entries, ok := m.pages[p.Ref]; ok {
		return entries, nil
	}
	return nil, &band.DamageError{Band: p.Ref.Band, What: "no page"}
}

func (m *paged) store(entries []band.Entry, p *band.Page) error {
	m.stored++
	p.Totals.Files = int64(len(entries))
	p.Ref = band.Ref{Hash: sha256.Sum256(band.EncodePage(entries, nil)), Offset: 16}
	m.pages[p.Ref] = slices.Clone(entries)
	return nil
}

func (m *paged) pager() band.Pager { return band.Pager{Load: m.Page, Store: m.store} }

func (m *paged) directory(pages []band.Page) band.Ref {
	d := &band.Directory{Attr: band.Attr{Mtime: at(1, 1)}}
	d.SetPages(pages)
	ref := band.Ref{Hash: sha256.Sum256(d.Encode(nil)), Offset: 16}
	m.headers[ref] = d
	return ref
}

func numberedFile(random *rand.Rand, name string) band.Entry {
	return band.Entry{
		Name: name, Kind: band.File, Size: 1, Attr: band.Attr{Mode: 0o644, Mtime: at(random.Int64N(9), 0)},
		Content: band.Ref{Hash: band.Hash{byte(random.Uint32()), 1}, Offset: 16},
	}
}

// sortedEntries returns the entries of a naive directory, by name.
func sortedEntries(m map[string]band.Entry) []band.Entry {
	list := slices.Collect(maps.Values(m))
	slices.SortFunc(list, func(a, b band.Entry) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func pointers(list []band.Entry) func(func(*band.Entry) bool) {
	return band.ApplyEdits(list, nil)
}

// editDirectory generates edits of a naive directory, and applies them.
func editDirectory(random *rand.Rand, m map[string]band.Entry, edits int) []band.Edit {
	done := map[string]band.Edit{}
	names := slices.Sorted(maps.Keys(m))
	for range edits {
		name := fmt.Sprintf("%05d", random.IntN(30_000))
		if len(names) > 0 && random.IntN(2) == 0 {
			name = names[random.IntN(len(names))]
		}
		e := numberedFile(random, name)
		edit := band.Edit{Name: name, Entry: &e}
		if random.IntN(3) == 0 {
			edit.Entry = nil
			delete(m, name)
		} else {
			m[name] = e
		}
		done[name] = edit
	}
	list := slices.Collect(maps.Values(done))
	slices.SortFunc(list, func(a, b band.Edit) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func TestEditedPagesEqualNewPages(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "folders of 6,000 files")
	for seed := range uint64(testkit.Rounds(1, 3)) {
		random := rand.New(rand.NewPCG(seed, 1))
		model := map[string]band.Entry{}
		editDirectory(random, model, 6_000)
		m := newPaged()
		pages, err := m.pager().Split(pointers(sortedEntries(model)))
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			before := maps.Clone(model)
			edits := editDirectory(random, model, []int{0, 1, 1, 3, 50, 2000}[random.IntN(6)])
			count, err := m.pager().Count(pages, edits)
			if err != nil || count != len(model) {
				t.Fatalf("%d entries, not %d, %v", count, len(model), err)
			}
			m.loaded, m.stored = 0, 0
			edited, err := m.pager().Apply(pages, edits)
			if err != nil {
				t.Fatal(err)
			}
			if most := 1 + 12*len(edits); len(edits) < 4 && (m.loaded > most || m.stored > most) {
				t.Errorf("%d edits: %d pages loaded, %d stored", len(edits), m.loaded, m.stored)
			}
			anew, err := m.pager().Split(pointers(sortedEntries(model)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(anew, edited); diff != "" {
				t.Fatal(diff)
			}
			compareDirectories(t, m, [2]band.Ref{m.directory(pages), m.directory(edited)}, before, model)
			pages = edited
		}
	}
}

// compareDirectories checks that DiffTrees and LookupPath agree with the models.
func compareDirectories(t *testing.T, m *paged, roots [2]band.Ref, before, after map[string]band.Entry) {
	t.Helper()
	want := map[string]bool{}
	for name := range before {
		e, ok := after[name]
		if !ok || !cmp.Equal(e, before[name]) {
			want[name] = true
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			want[name] = true
		}
	}
	got := map[string]bool{}
	last := ""
	err := band.DiffTrees(context.Background(), m, roots[0], m, roots[1], func(c band.Change) error {
		if c.Path != "" && c.Path <= last {
			t.Errorf("%q after %q", c.Path, last)
		}
		last = c.Path
		got[c.Path] = true
		return nil
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	whole, err := m.Directory(roots[1])
	if err != nil || len(whole.Entries) != len(after) {
		t.Fatalf("%d entries, not %d, %v", len(whole.Entries), len(after), err)
	}
	for _, name := range []string{"00000", "15000", "29999", "zz", ""} {
		_, held := after[name]
		if _, err := band.LookupPath(m, roots[1], name); (err == nil) != (held || name == "") {
			t.Errorf("look up %q: %v", name, err)
		}
	}
}

func TestPageSize(t *testing.T) {
	t.Parallel()
	m := newPaged()
	var list []band.Entry
	for i := range 43_008 {
		list = append(list, band.Entry{Name: fmt.Sprintf("icon%06d.js", i), Kind: band.Symlink, Target: "x"})
	}
	pages, err := m.pager().Split(pointers(list))
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 43_008/300 || len(pages) > 43_008/200 {
		t.Errorf("%d pages", len(pages))
	}
	for _, p := range pages {
		if p.Count > 512 {
			t.Errorf("a page of %d", p.Count)
		}
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	t.Parallel()
	want := &band.Directory{Attr: everything().Attr}
	want.SetPages([]band.Page{
		{Last: "\x01\xff", Count: 1, Totals: band.Totals{Files: 1, Bytes: 5}, Bands: []uint32{0, 7}, Ref: band.Ref{Hash: band.Hash{1}, Band: 9, Offset: 16}},
		{Last: "b", Count: 2000, Totals: band.Totals{Dirs: 2000, Unknown: 3}, Ref: band.Ref{Hash: band.Hash{2}, Band: 2, Offset: 500}},
	})
	data := want.Encode(nil)
	got, err := band.DecodeDirectory(data)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	if diff := cmp.Diff([]uint32{0, 2, 7, 9}, got.Bands); diff != "" || got.Totals.Bytes != 5 {
		t.Errorf("%s, %+v", diff, got)
	}
	for n := range data {
		if _, err := band.DecodeDirectory(data[:n]); !errors.Is(err, band.ErrBadDirectory) {
			t.Errorf("%d bytes of a header: %v", n, err)
		}
	}
	want.Pages[1].Last = "\x01"
	if _, err := band.DecodeDirectory(want.Encode(nil)); !errors.Is(err, band.ErrBadDirectory) {
		t.Errorf("pages out of order: %v", err)
	}
	page := band.EncodePage(everything().Entries, nil)
	entries, err := band.DecodePage(page)
	if diff := cmp.Diff(everything().Entries, entries); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := band.DecodePage(band.EncodePage(nil, nil)); !errors.Is(err, band.ErrBadDirectory) {
		t.Errorf("an empty page: %v", err)
	}
}

func TestRecordsRefusePageOfAnotherDirectory(t *testing.T) {
	t.Parallel()
	first := []band.Entry{{Name: "a", Kind: band.Symlink, Target: "x"}, {Name: "c", Kind: band.Symlink}}
	second := []band.Entry{{Name: "b", Kind: band.Symlink}, {Name: "d", Kind: band.Symlink}}
	var fine, wrongCount, wrongOrder, lost band.Ref
	records := store(t, func(w *band.Writer) {
		one := addRecord(t, w, band.PageRecord, band.EncodePage(first, nil))
		two := addRecord(t, w, band.PageRecord, band.EncodePage(second, nil))
		header := func(pages ...band.Page) band.Ref {
			d := &band.Directory{Attr: band.Attr{Mtime: at(1, 0)}}
			d.SetPages(pages)
			return addRecord(t, w, band.DirectoryRecord, d.Encode(nil))
		}
		fine = header(band.Page{Last: "c", Count: 2, Ref: one})
		wrongCount = header(band.Page{Last: "c", Count: 1, Ref: one})
		wrongOrder = header(band.Page{Last: "c", Count: 2, Ref: one}, band.Page{Last: "d", Count: 2, Ref: two})
		lost = header(band.Page{Last: "c", Count: 2, Ref: band.Ref{Hash: band.Hash{1}, Offset: 5000}})
	})
	dir, err := records.Directory(fine)
	if err != nil || len(dir.Entries) != 2 || len(dir.Pages) != 1 {
		t.Fatalf("%+v, %v", dir, err)
	}
	if header, err := records.Header(fine); err != nil || len(header.Entries) != 0 {
		t.Errorf("the header is %+v, %v", header, err)
	}
	for name, ref := range map[string]band.Ref{"count": wrongCount, "order": wrongOrder, "lost": lost} {
		if _, err := records.Directory(ref); !errors.Is(err, band.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzPages(f *testing.F) {
	f.Add(band.EncodePage(everything().Entries, nil))
	header := &band.Directory{Attr: everything().Attr}
	header.SetPages([]band.Page{{Last: "a", Count: 1, Bands: []uint32{3}, Ref: band.Ref{Hash: band.Hash{1}}}})
	f.Add(header.Encode(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if entries, err := band.DecodePage(data); err == nil {
			again, err := band.DecodePage(band.EncodePage(entries, nil))
			if diff := cmp.Diff(entries, again); diff != "" || err != nil {
				t.Error(diff, err)
			}
		} else if !errors.Is(err, band.ErrBadDirectory) {
			t.Error(err)
		}
		if dir, err := band.DecodeDirectory(data); err == nil {
			again, err := band.DecodeDirectory(dir.Encode(nil))
			if diff := cmp.Diff(dir, again); diff != "" || err != nil {
				t.Error(diff, err)
			}
		}
	})
}
