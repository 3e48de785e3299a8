package band_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/band"
)

// noise returns n bytes that don't compress.
func noise(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, rng.Uint64())
	}
	return b[:n:n]
}

func text(n int) []byte { return bytes.Repeat([]byte("func main() {}\n"), n/15+1)[:n] }

// writer returns a Writer that is closed at the end of the test, or earlier.
func writer(tb testing.TB, dir string, opts band.WriterOptions) *band.Writer {
	tb.Helper()
	w, err := band.NewWriter(dir, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = w.Close() })
	return w
}

func add(tb testing.TB, w *band.Writer, kind band.RecordKind, content []byte) band.Ref {
	tb.Helper()
	ref, err := w.Add(kind, content)
	if err != nil {
		tb.Fatal(err)
	}
	if ref.Hash != sha256.Sum256(content) {
		tb.Fatalf("the reference has the hash %v", ref.Hash)
	}
	return ref
}

func syncBands(tb testing.TB, w *band.Writer) {
	tb.Helper()
	if err := w.Sync(); err != nil {
		tb.Fatal(err)
	}
}

func reader(tb testing.TB, dirs ...string) *band.Reader {
	tb.Helper()
	r := band.NewReader(dirs...)
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

func read(tb testing.TB, r *band.Reader, ref band.Ref, kind band.RecordKind) []byte {
	tb.Helper()
	got, err := r.Read(ref, kind, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return got
}

func TestContentRoundTrip(t *testing.T) {
	t.Parallel()
	contents := map[string][]byte{
		"empty":                       {},
		"one byte":                    {7},
		"short text":                  []byte("hello\n"),
		"a glance":                    noise(1, 4096-52),
		"a byte more than a glance":   noise(2, 4096-51),
		"text that is packed":         text(100_000),
		"noise that isn't":            noise(3, 300_000),
		"a part of a large file":      noise(4, 1<<20),
		"as long as a band":           noise(5, band.Limit),
		"text that is longer by far":  text(3 * band.Limit),
		"noise that is longer by far": noise(6, band.Limit+1),
	}
	for name, content := range contents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w := writer(t, dir, band.WriterOptions{})
			kinds := []band.RecordKind{band.DataRecord, band.ListRecord, band.DirectoryRecord}
			if len(content) > 1<<20 {
				kinds = kinds[:1]
			}
			for _, kind := range kinds {
				ref := add(t, w, kind, content)
				syncBands(t, w)
				r := reader(t, dir)
				if got := read(t, r, ref, kind); !bytes.Equal(got, content) {
					t.Fatalf("%d bytes came back as %d others", len(content), len(got))
				}
				raw, stored, err := r.Size(ref, kind)
				if err != nil || raw != int64(len(content)) || stored > raw+52 {
					t.Errorf("size is %d stored as %d, %v", raw, stored, err)
				}
			}
		})
	}
}

func TestReadUsesTheBuffer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := writer(t, dir, band.WriterOptions{})
	content := text(1000)
	ref := add(t, w, band.DataRecord, content)
	syncBands(t, w)
	buf := make([]byte, 5, 2000)
	got, err := reader(t, dir).Read(ref, band.DataRecord, buf)
	if err != nil || !bytes.Equal(got, content) || &got[0] != &buf[0] {
		t.Errorf("the content is elsewhere or another one, %v", err)
	}
}

func TestWrongReferences(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := writer(t, dir, band.WriterOptions{})
	ref := add(t, w, band.DataRecord, []byte("one"))
	other := add(t, w, band.DataRecord, []byte("two"))
	syncBands(t, w)
	for name, test := range map[string]struct {
		ref  band.Ref
		kind band.RecordKind
		what string
	}{
		"another kind":     {ref, band.DirectoryRecord, "the record has another kind"},
		"another content":  {band.Ref{Hash: other.Hash, Offset: ref.Offset}, band.DataRecord, "the record has different content"},
		"within a record":  {band.Ref{Hash: ref.Hash, Offset: ref.Offset + 1}, band.DataRecord, "no record starts there"},
		"the band's start": {band.Ref{Hash: ref.Hash}, band.DataRecord, "no record starts there"},
		"the band's end":   {band.Ref{Hash: ref.Hash, Offset: other.Offset + 55}, band.DataRecord, "the band ends before this record"},
		"far behind":       {band.Ref{Hash: ref.Hash, Offset: 1<<32 - 1}, band.DataRecord, "the band ends before this record"},
		"no such band":     {band.Ref{Hash: ref.Hash, Band: 9, Offset: 16}, band.DataRecord, "the band is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := reader(t, dir)
			_, err := r.Read(test.ref, test.kind, nil)
			want := &band.DamageError{Band: test.ref.Band, Offset: test.ref.Offset, What: test.what}
			var got *band.DamageError
			if !errors.Is(err, band.ErrDamaged) || !errors.As(err, &got) {
				t.Fatalf("the error is %v", err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if r.Check(test.ref, test.kind) {
				t.Error("there is such a record")
			}
			if _, _, err := r.Size(test.ref, test.kind); !errors.Is(err, band.ErrDamaged) {
				t.Errorf("it has a size, %v", err)
			}
		})
	}
}

// A changed byte damages the record that it is in, and no others.
func TestDamageAffectsOneRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := writer(t, dir, band.WriterOptions{})
	contents := [][]byte{[]byte("first"), text(500), {}, noise(1, 200), text(80)}
	var refs []band.Ref
	for _, c := range contents {
		refs = append(refs, add(t, w, band.DataRecord, c))
	}
	syncBands(t, w)
	whole, err := os.ReadFile(filepath.Join(dir, "0"))
	if err != nil {
		t.Fatal(err)
	}
	hurt := t.TempDir()
	for at := range whole {
		damaged := bytes.Clone(whole)
		damaged[at] ^= byte(1 + at%255)
		if err := os.WriteFile(filepath.Join(hurt, "0"), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		r := reader(t, hurt)
		for i, ref := range refs {
			end := len(whole)
			if i+1 < len(refs) {
				end = int(refs[i+1].Offset)
			}
			within := at >= int(ref.Offset) && at < end
			got, err := r.Read(ref, band.DataRecord, nil)
			if within != errors.Is(err, band.ErrDamaged) {
				t.Fatalf("byte %d is changed: record %d at %d: %v", at, i, ref.Offset, err)
			}
			if !within && !bytes.Equal(got, contents[i]) {
				t.Fatalf("byte %d is changed: record %d has other content", at, i)
			}
		}
	}
}

func TestNewerRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := one(t, 0)
	var damage *band.DamageError
	for magic, want := range map[string]string{"REC2": "made by a newer version", "REC0": "no record starts there", "REDO": "no record starts there"} {
		copy(data[16:], magic)
		put(t, dir, "0", data)
		_, err := reader(t, dir).Read(band.Ref{Hash: sha256.Sum256([]byte("earlier")), Offset: 16}, band.DataRecord, nil)
		if !errors.As(err, &damage) || damage.What != want {
			t.Errorf("%s: %v", magic, err)
		}
	}
}

func TestTruncatedBand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := writer(t, dir, band.WriterOptions{})
	first, second := add(t, w, band.DataRecord, text(200)), add(t, w, band.DataRecord, noise(1, 9000))
	syncBands(t, w)
	whole, err := os.ReadFile(filepath.Join(dir, "0"))
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 1, 15, 16, 40, int(second.Offset), int(second.Offset) + 51, int(second.Offset) + 52, len(whole) - 1} {
		short := t.TempDir()
		if err := os.WriteFile(filepath.Join(short, "0"), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		r := reader(t, short)
		for _, ref := range []band.Ref{first, second} {
			_, err := r.Read(ref, band.DataRecord, nil)
			held := ref == first && cut >= int(second.Offset)
			if held != (err == nil) || !held && !errors.Is(err, band.ErrDamaged) || held != r.Check(ref, band.DataRecord) {
				t.Errorf("cut at %d: record at %d: %v", cut, ref.Offset, err)
			}
		}
	}
}

func TestSecondFolder(t *testing.T) {
	t.Parallel()
	all, snapshot := t.TempDir(), t.TempDir()
	w := writer(t, all, band.WriterOptions{})
	ref := add(t, w, band.DataRecord, text(200))
	syncBands(t, w)
	r := reader(t, snapshot, all)
	if got := read(t, r, ref, band.DataRecord); !bytes.Equal(got, text(200)) {
		t.Error("the band isn't found in the second folder")
	}
	if err := os.WriteFile(filepath.Join(snapshot, "0"), make([]byte, 500), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := read(t, reader(t, snapshot, all), ref, band.DataRecord); !bytes.Equal(got, text(200)) {
		t.Error("a damaged band hides the one in the second folder")
	}
	var damage *band.DamageError
	_, err := reader(t, snapshot, t.TempDir()).Read(ref, band.DataRecord, nil)
	if !errors.As(err, &damage) || damage.What != "no record starts there" {
		t.Errorf("the damage is reported as %v", err)
	}
}

// Many more bands than are kept open, read by several goroutines at a time.
func TestManyBands(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var refs []band.Ref
	for n := range uint32(600) {
		own := t.TempDir()
		w := writer(t, own, band.WriterOptions{First: n})
		refs = append(refs, add(t, w, band.DataRecord, fmt.Append(nil, n)))
		syncBands(t, w)
		if err := os.Rename(filepath.Join(own, band.FileName(n)), filepath.Join(dir, band.FileName(n))); err != nil {
			t.Fatal(err)
		}
	}
	r := reader(t, dir)
	var group sync.WaitGroup
	for worker := range uint64(4) {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(worker, 1))
			for range 2000 {
				n := rng.IntN(len(refs))
				got, err := r.Read(refs[n], band.DataRecord, nil)
				if err != nil || string(got) != strconv.Itoa(n) {
					t.Errorf("band %d holds %q, %v", n, got, err)
					return
				}
			}
		})
	}
	group.Wait()
}

func TestFileNames(t *testing.T) {
	t.Parallel()
	type parsed struct {
		N       uint32
		Raw, OK bool
	}
	for name, want := range map[string]parsed{
		"0":              {0, false, true},
		"12":             {12, false, true},
		"12.raw":         {12, true, true},
		"4294967295":     {1<<32 - 1, false, true},
		"4294967296":     {},
		"01":             {},
		"+1":             {},
		"-1":             {},
		"":               {},
		".raw":           {},
		"1.raw.raw":      {},
		"1.tmp":          {},
		"snapshot.json":  {},
		"pair-1234.json": {},
	} {
		var got parsed
		got.N, got.Raw, got.OK = band.ParseName(name)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
		if got.OK && (band.FileInfo{Number: got.N, Raw: got.Raw}).Name() != name {
			t.Errorf("%q is %q when written", name, band.FileInfo{Number: got.N, Raw: got.Raw}.Name())
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, size := range map[string]int{"10": 3, "9": 2, "2.raw": 7, "x": 1, "03": 1, "1.tmp": 1} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "4"), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := band.Files(dir)
	want := []band.FileInfo{{Number: 2, Raw: true, Length: 7}, {Number: 9, Length: 2}, {Number: 10, Length: 3}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, f := range want {
		got, err := band.StatFile(dir, f.Number)
		if got != f || err != nil {
			t.Errorf("band %d is %v, %v", f.Number, got, err)
		}
	}
	if _, err := band.StatFile(dir, 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a band that isn't there: %v", err)
	}
	if _, err := band.Files(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that isn't there: %v", err)
	}
}
