package band_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/band"
)

// store writes records and returns a DirectoryLoader that reads them.
func store(tb testing.TB, write func(w *band.Writer)) *band.DirectoryLoader {
	tb.Helper()
	dir := tb.TempDir()
	w, err := band.NewWriter(dir, band.WriterOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	write(w)
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	r := band.NewReader(dir)
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return band.NewDirectoryLoader(r)
}

func addRecord(tb testing.TB, w *band.Writer, kind band.RecordKind, content []byte) band.Ref {
	tb.Helper()
	ref, err := w.Add(kind, content)
	if err != nil {
		tb.Fatal(err)
	}
	return ref
}

func TestRecordsLoad(t *testing.T) {
	t.Parallel()
	var large, small []band.Ref
	parts := []band.Part{{Kind: band.DataPart, Length: 5, Ref: band.Ref{Hash: band.Hash{1}}}, {Kind: band.HolePart, Length: 7}}
	var list, garbage band.Ref
	records := store(t, func(w *band.Writer) {
		for i := range 20 {
			d := &band.Directory{Attr: band.Attr{UID: uint32(i), Mtime: at(0, 0)}}
			small = append(small, addRecord(t, w, band.DirectoryRecord, d.Encode(nil)))
			for j := range 2000 {
				d.Entries = append(d.Entries, band.Entry{Name: fmt.Sprintf("%04d", j), Kind: band.File, Attr: d.Attr})
			}
			large = append(large, addRecord(t, w, band.DirectoryRecord, d.Encode(nil)))
		}
		list = addRecord(t, w, band.ListRecord, band.EncodeParts(parts))
		garbage = addRecord(t, w, band.DirectoryRecord, []byte("no directory"))
	})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 3 {
				for i := range large {
					l, largeErr := records.Directory(large[i])
					s, smallErr := records.Directory(small[i])
					if err := errors.Join(largeErr, smallErr); err != nil || l.Attr.UID != uint32(i) || len(l.Entries) != 2000 || s.Attr.UID != uint32(i) {
						t.Errorf("directory %d is another one, %v", i, err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	got, err := records.Parts(list)
	if d := cmp.Diff(parts, got); d != "" || err != nil {
		t.Error(d, err)
	}
	for name, ref := range map[string]band.Ref{"no directory": garbage, "a list": list, "nothing": {Band: 5}} {
		if _, err := records.Directory(ref); !errors.Is(err, band.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := records.Parts(garbage); !errors.Is(err, band.ErrDamaged) {
		t.Errorf("a list that is none: %v", err)
	}
}

// The same parts stored elsewhere are the same file; other parts are a different one.
func TestDiffComparesParts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		old, new []band.Part
		want     []band.ChangeKind
	}{
		"stored elsewhere": {
			old: []band.Part{{Kind: band.DataPart, Length: 5, Ref: band.Ref{Hash: band.Hash{1}, Band: 1}}},
			new: []band.Part{{Kind: band.DataPart, Length: 5, Ref: band.Ref{Hash: band.Hash{1}, Band: 2}}},
		},
		"another part": {
			old:  []band.Part{{Kind: band.DataPart, Length: 5, Ref: band.Ref{Hash: band.Hash{1}, Band: 1}}},
			new:  []band.Part{{Kind: band.DataPart, Length: 5, Ref: band.Ref{Hash: band.Hash{2}, Band: 1}}},
			want: []band.ChangeKind{band.Modified},
		},
		"a hole": {
			old:  []band.Part{{Kind: band.DataPart, Length: 5, Ref: band.Ref{Hash: band.Hash{1}, Band: 1}}},
			new:  []band.Part{{Kind: band.HolePart, Length: 5}},
			want: []band.ChangeKind{band.Modified},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var roots []band.Ref
			records := store(t, func(w *band.Writer) {
				for _, parts := range [][]band.Part{test.old, test.new} {
					ref := addRecord(t, w, band.ListRecord, band.EncodeParts(parts))
					d := &band.Directory{Entries: []band.Entry{{Name: "f", Kind: band.File, Size: 5, Parts: true, Content: ref}}}
					roots = append(roots, addRecord(t, w, band.DirectoryRecord, d.Encode(nil)))
				}
			})
			var got []band.ChangeKind
			err := band.DiffTrees(t.Context(), records, roots[0], records, roots[1], func(c band.Change) error {
				got = append(got, c.Kind)
				return nil
			})
			if d := cmp.Diff(test.want, got); d != "" || err != nil {
				t.Error(d, err)
			}
		})
	}
}

// A directory with another record but the same content is not reported as changed.
func TestDiffComparesContent(t *testing.T) {
	t.Parallel()
	l := memory{}
	var roots []band.Ref
	for n := range uint32(2) {
		d := &band.Directory{Bands: []uint32{n}, Entries: []band.Entry{{Name: "f", Kind: band.File, Size: 5, Content: band.Ref{Hash: band.Hash{1}, Band: n, Offset: 99}}}}
		ref := band.Ref{Hash: sha256.Sum256(d.Encode(nil))}
		l[ref] = d
		roots = append(roots, ref)
	}
	err := band.DiffTrees(t.Context(), l, roots[0], l, roots[1], func(c band.Change) error {
		t.Errorf("%q differs", c.Path)
		return nil
	})
	if err != nil || roots[0] == roots[1] {
		t.Error(err)
	}
}
