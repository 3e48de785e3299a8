package band_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

func names(tb testing.TB, dir string) (names []string) {
	tb.Helper()
	files, err := band.Files(dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

func put(tb testing.TB, dir, name string, data []byte) {
	tb.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// one returns the bytes of a band with one record.
func one(tb testing.TB, number uint32) []byte {
	tb.Helper()
	dir := tb.TempDir()
	w := writer(tb, dir, band.WriterOptions{First: number})
	add(tb, w, band.DataRecord, []byte("earlier"))
	syncBands(tb, w)
	data, err := os.ReadFile(filepath.Join(dir, band.FileName(number)))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func TestWriterStart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string][]byte
		first uint32
		want  band.Ref // of the first record
	}{
		"an empty folder":             {want: band.Ref{Band: 0, Offset: 16}},
		"a least number":              {first: 7, want: band.Ref{Band: 7, Offset: 16}},
		"the end of the last band":    {files: map[string][]byte{"3": one(t, 3), "2": one(t, 2)}, want: band.Ref{Band: 3, Offset: 75}},
		"behind what a crash left":    {files: map[string][]byte{"3": append(one(t, 3), "REC1 a part"...)}, want: band.Ref{Band: 3, Offset: 86}},
		"a band that is full":         {files: map[string][]byte{"3": append(one(t, 3), make([]byte, band.Limit)...)}, want: band.Ref{Band: 4, Offset: 16}},
		"a band almost full":          {files: map[string][]byte{"3": append(one(t, 3), make([]byte, band.Limit-100)...)}, want: band.Ref{Band: 4, Offset: 16}},
		"a band without a header":     {files: map[string][]byte{"3": nil}, want: band.Ref{Band: 4, Offset: 16}},
		"a band with half a header":   {files: map[string][]byte{"3": one(t, 3)[:9]}, want: band.Ref{Band: 4, Offset: 16}},
		"a band of another number":    {files: map[string][]byte{"3": one(t, 2)}, want: band.Ref{Band: 4, Offset: 16}},
		"a raw band is passed over":   {files: map[string][]byte{"3": one(t, 3), "4.raw": one(t, 4)}, want: band.Ref{Band: 3, Offset: 75}},
		"a raw band takes its number": {files: map[string][]byte{"4.raw": one(t, 4)}, want: band.Ref{Band: 5, Offset: 16}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, data := range test.files {
				put(t, dir, name, data)
			}
			w := writer(t, dir, band.WriterOptions{First: test.first})
			got := add(t, w, band.DataRecord, []byte("content"))
			syncBands(t, w)
			test.want.Hash = got.Hash
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if content := read(t, reader(t, dir), got, band.DataRecord); string(content) != "content" {
				t.Errorf("the record holds %q", content)
			}
			for name, data := range test.files {
				now, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil || !bytes.HasPrefix(now, data) {
					t.Errorf("%s was changed, %v", name, err)
				}
			}
		})
	}
}

func TestWriterWithoutRecordsWritesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := writer(t, dir, band.WriterOptions{})
	if err := errors.Join(w.Sync(), w.Close()); err != nil || w.Added() != 0 {
		t.Errorf("%d bytes, %v", w.Added(), err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("there are %v", got)
	}
}

func TestBandLengthLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := writer(t, dir, band.WriterOptions{})
	var refs []band.Ref
	var contents [][]byte
	for i, size := range []int{3 << 20, 3 << 20, 3 << 20, band.Limit + 5, 10, 4 << 20} {
		contents = append(contents, noise(uint64(i), size))
		refs = append(refs, add(t, w, band.DataRecord, contents[i]))
	}
	var where []uint32
	for _, r := range refs {
		where = append(where, r.Band)
	}
	if diff := cmp.Diff([]uint32{0, 0, 1, 2, 3, 3}, where); diff != "" {
		t.Error(diff)
	}
	before := []int64{w.Length(0), w.Length(1), w.Length(2), w.Length(3), w.Length(4)}
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
	var sum int64
	for n, length := range before[:4] {
		f, err := band.StatFile(dir, uint32(n))
		if err != nil || f.Length != length {
			t.Errorf("band %d: %d bytes were announced, there are %d, %v", n, length, f.Length, err)
		}
		if n != 2 && length > band.Limit {
			t.Errorf("band %d has %d bytes", n, length)
		}
		sum += length
	}
	if before[4] != 0 || w.Added() != sum {
		t.Errorf("%d bytes were added, %d are there", w.Added(), sum)
	}
	r := reader(t, dir)
	for i, ref := range refs {
		if !bytes.Equal(read(t, r, ref, band.DataRecord), contents[i]) {
			t.Errorf("record %d has other content", i)
		}
	}
}

func TestContentTooLarge(t *testing.T) {
	t.Parallel()
	w := writer(t, t.TempDir(), band.WriterOptions{})
	if _, err := w.Add(band.DataRecord, make([]byte, band.MaxRecord+1)); !errors.Is(err, band.ErrTooLarge) {
		t.Errorf("the error is %v", err)
	}
	add(t, w, band.DataRecord, []byte("goes on"))
}

// After a write has failed, records added before may be missing on the disk.
func TestWriterErrorIsSticky(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bands")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w := writer(t, dir, band.WriterOptions{Dedupe: openDedupe(t, filepath.Join(t.TempDir(), "dedupe"))})
	add(t, w, band.DataRecord, []byte("zero"))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	_, first := w.Add(band.DataRecord, noise(1, band.Limit))
	if !errors.Is(first, os.ErrNotExist) {
		t.Fatalf("the error is %v", first)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	_, known := w.Add(band.DataRecord, []byte("zero"))
	_, second := w.Add(band.DataRecord, []byte("two"))
	_, raw := w.AddRaw(openFile(t, noise(1, 10)), 10, band.Hash{}, disk.Copy)
	for _, err := range []error{known, second, raw, w.Sync(), w.Close()} {
		if !errors.Is(err, first) {
			t.Errorf("the error is %v", err)
		}
	}
}

// openDedupe opens a table that is closed at the end of the test, or earlier.
func openDedupe(tb testing.TB, path string) *band.Dedupe {
	tb.Helper()
	d, err := band.OpenDedupe(path)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = d.Close() })
	return d
}

func TestDedupe(t *testing.T) {
	t.Parallel()
	dir, table := t.TempDir(), filepath.Join(t.TempDir(), "dedupe")
	small, large := []byte("small"), text(400_000)
	d := openDedupe(t, table)
	w := writer(t, dir, band.WriterOptions{Dedupe: d})
	first := []band.Ref{add(t, w, band.DataRecord, small), add(t, w, band.DataRecord, large)}
	other := add(t, w, band.DirectoryRecord, small)
	again := []band.Ref{add(t, w, band.DataRecord, large), add(t, w, band.DirectoryRecord, small)}
	if diff := cmp.Diff([]band.Ref{first[1], other}, again); diff != "" {
		t.Error("in one session:", diff)
	}
	if other == first[0] {
		t.Error("two kinds have one record")
	}
	if err := errors.Join(w.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	d = openDedupe(t, table)
	w = writer(t, dir, band.WriterOptions{Dedupe: d})
	later := []band.Ref{add(t, w, band.DataRecord, large), add(t, w, band.DirectoryRecord, small)}
	if diff := cmp.Diff(again, later); diff != "" || w.Added() != 0 {
		t.Errorf("in the next session %d bytes: %s", w.Added(), diff)
	}
}

// A record that has lost its content must not be referred to again, unless it is repaired in
// place. That requires that the place can still be identified as the record's.
func TestDamagedRecordsAreRepairedOrReplaced(t *testing.T) {
	t.Parallel()
	at := func(offset uint32) func(data []byte, ref band.Ref) []byte {
		return func(data []byte, ref band.Ref) []byte { data[ref.Offset+offset] ^= 1; return data }
	}
	for name, test := range map[string]struct {
		hurt     func(data []byte, ref band.Ref) []byte
		repaired bool
	}{
		"a byte of the content":  {at(60), true},
		"a byte of the magic":    {at(0), true},
		"a byte of the length":   {at(8), true},
		"a byte of the hash":     {at(20), true},
		"a byte of the checksum": {at(50), true},
		"a hole punched behind the header": {func(data []byte, ref band.Ref) []byte {
			clear(data[ref.Offset+52:])
			return data
		}, true},
		"another record in its place": {func(data []byte, ref band.Ref) []byte {
			copy(data[ref.Offset+16:], noise(7, 200))
			return data
		}, false},
		"a shorter record of that hash, and another": {func(data []byte, ref band.Ref) []byte {
			data[ref.Offset+8] = 100
			return append(data, noise(7, 200)...)
		}, false},
		"a hole punched over all": {func([]byte, band.Ref) []byte { return make([]byte, 400) }, false},
		"cut":                     {func(data []byte, ref band.Ref) []byte { return data[:ref.Offset+100] }, false},
		"gone":                    {func([]byte, band.Ref) []byte { return nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, table := t.TempDir(), filepath.Join(t.TempDir(), "dedupe")
			d := openDedupe(t, table)
			w := writer(t, dir, band.WriterOptions{Dedupe: d})
			content := noise(1, 200)
			first := add(t, w, band.DataRecord, content)
			if err := errors.Join(w.Close(), d.Close()); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(dir, "0"))
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, "0", test.hurt(data, first))
			d = openDedupe(t, table)
			w = writer(t, dir, band.WriterOptions{Dedupe: d})
			second, third := add(t, w, band.DataRecord, content), add(t, w, band.DataRecord, content)
			syncBands(t, w)
			if (second == first) != test.repaired || third != second || (len(w.Repaired()) == 1) != test.repaired {
				t.Errorf("it is at %v, then at %v, then at %v; repaired %v", first, second, third, w.Repaired())
			}
			if !bytes.Equal(read(t, reader(t, dir), second, band.DataRecord), content) {
				t.Error("the content is another one")
			}
		})
	}
}

func TestConcurrentAdd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := openDedupe(t, filepath.Join(t.TempDir(), "dedupe"))
	w := writer(t, dir, band.WriterOptions{Dedupe: d})
	const workers, contents = 4, 300
	content := func(i int) []byte { return append(noise(uint64(i), i*20), text(i*20)...) }
	var refs [workers][contents]band.Ref
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := range contents {
				ref, err := w.Add(band.DataRecord, content(i))
				if err != nil {
					t.Error(err)
					return
				}
				refs[worker][i] = ref
			}
		})
	}
	group.Wait()
	syncBands(t, w)
	r := reader(t, dir)
	for i := range contents {
		if !bytes.Equal(read(t, r, refs[0][i], band.DataRecord), content(i)) {
			t.Errorf("content %d is another one", i)
		}
		for worker := range workers {
			if refs[worker][i] != refs[0][i] {
				t.Errorf("content %d is stored twice", i)
			}
		}
	}
}

func openFile(tb testing.TB, content []byte) *os.File {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = f.Close() })
	return f
}

func TestDedupeFile(t *testing.T) {
	t.Parallel()
	ref := func(i int) band.Ref {
		r := band.Ref{Band: uint32(i), Offset: uint32(i * 3)}
		copy(r.Hash[:], noise(uint64(i), len(r.Hash)))
		return r
	}
	const many = 30_000 // it grows several times
	path := filepath.Join(t.TempDir(), "dedupe")
	d := openDedupe(t, path)
	for i := range many {
		d.Put(ref(i))
	}
	moved := ref(5)
	moved.Band = 77
	d.Put(moved)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = openDedupe(t, path)
	for i := range many {
		want := ref(i)
		if i == 5 {
			want = moved
		}
		if got, ok := d.Find(want.Hash); !ok || got != want {
			t.Fatalf("entry %d is %v, %v", i, got, ok)
		}
	}
	if got, ok := d.Find(band.Hash{1, 2, 3}); ok {
		t.Errorf("what wasn't put is at %v", got)
	}
	if err := errors.Join(d.Close(), band.ResetDedupe(path), band.ResetDedupe(path)); err != nil {
		t.Fatal(err)
	}
	if _, ok := openDedupe(t, path).Find(ref(1).Hash); ok {
		t.Error("a table that was reset still has entries")
	}
}

// Whatever the file contains, contents are stored and found.
func TestDedupeGarbage(t *testing.T) {
	t.Parallel()
	whole := filepath.Join(t.TempDir(), "dedupe")
	if err := openDedupe(t, whole).Close(); err != nil {
		t.Fatal(err)
	}
	valid, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty":            nil,
		"noise":            noise(1, 70_000),
		"a cut header":     valid[:20],
		"a cut table":      valid[:5000],
		"a longer table":   append(bytes.Clone(valid), 1),
		"a damaged header": append([]byte{'X'}, valid[1:]...),
		"a full table":     append(bytes.Clone(valid[:32]), noise(2, len(valid)-32)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, table := t.TempDir(), t.TempDir()
			put(t, table, "dedupe", data)
			for range 2 {
				d := openDedupe(t, filepath.Join(table, "dedupe"))
				w := writer(t, dir, band.WriterOptions{Dedupe: d})
				for i := range 50 {
					ref := add(t, w, band.DataRecord, fmt.Append(nil, "content ", i))
					syncBands(t, w)
					if got := read(t, reader(t, dir), ref, band.DataRecord); string(got) != fmt.Sprint("content ", i) {
						t.Errorf("content %d is %q", i, got)
					}
				}
				if err := errors.Join(w.Close(), d.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
