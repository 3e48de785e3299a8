package band_test

import (
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/band"
)

func at(sec, nsec int64) time.Time { return time.Unix(sec, nsec).UTC() }

// everything returns a directory with all kinds of entries and attributes.
func everything() *band.Directory {
	plain := band.Attr{Mode: 0o644, UID: 1000, GID: 100, Mtime: at(1_700_000_000, 123_456_789)}
	odd := band.Attr{
		Mode: 0o7777, UID: math.MaxUint32, Mtime: at(-12_345_678_901, 999_999_999),
		Xattrs: []band.Xattr{{Name: "security.x", Value: []byte{0, 255}}, {Name: "user.empty", Value: []byte{}}},
	}
	return &band.Directory{
		Attr:   band.Attr{Mode: 0o1777, GID: 5, Mtime: at(1_700_000_001, 0), Xattrs: odd.Xattrs[1:]},
		Totals: band.Totals{Files: 4, Dirs: 1, Unknown: 2, Bytes: math.MaxInt64},
		Bands:  []uint32{0, 7, math.MaxUint32},
		Entries: []band.Entry{
			{Name: "\x01\xff\n", Kind: band.File, Attr: plain, Size: 12, Content: band.Ref{Hash: band.Hash{1}, Band: 7, Offset: 16}},
			{Name: "...", Kind: band.File, Attr: plain, Size: 1 << 40, Parts: true, Link: math.MaxUint64, Content: band.Ref{Hash: band.Hash{2}, Offset: math.MaxUint32}},
			{Name: "dangling", Kind: band.Symlink, Attr: odd, Target: "../no where/\xfe"},
			{Name: "device", Kind: band.Unknown, Attr: odd, Reason: band.Device},
			{Name: "dir", Kind: band.Dir, Content: band.Ref{Hash: band.Hash{3}, Band: math.MaxUint32}},
			{Name: "dir.x", Kind: band.Unknown, Reason: 200, Attr: band.Attr{Mtime: at(0, 0)}},
			{Name: "empty", Kind: band.File, Attr: plain, Link: 3},
			{Name: "empty link", Kind: band.Symlink, Attr: plain},
		},
	}
}

func TestDirectoryRoundTrip(t *testing.T) {
	t.Parallel()
	many := &band.Directory{Attr: band.Attr{Mode: 0o755, Mtime: at(5, 5)}}
	for i := range 5000 {
		e := band.Entry{Name: strings.Repeat("a", i+1), Kind: band.File}
		e.Attr = band.Attr{Mode: uint32(i) & 0o777, UID: uint32(i), Mtime: at(math.MinInt64+int64(i)*1e15, int64(i))}
		many.Entries = append(many.Entries, e)
	}
	for name, dir := range map[string]*band.Directory{
		"the zero value": {Attr: band.Attr{Mtime: at(0, 0)}},
		"no entries":     {Attr: band.Attr{Mode: 0o700, UID: 1, GID: 2, Mtime: at(1_700_000_000, 1)}, Bands: []uint32{9}},
		"everything":     everything(),
		"many owners":    many,
		"directories only": {Attr: band.Attr{Mtime: at(1, 0)}, Entries: []band.Entry{
			{Name: "a", Kind: band.Dir, Content: band.Ref{Hash: band.Hash{1}}}, {Name: "b", Kind: band.Dir, Content: band.Ref{Offset: 16}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := dir.Encode([]byte("before"))
			if !strings.HasPrefix(string(data), "before") {
				t.Fatal("what was in the buffer is gone")
			}
			data = data[len("before"):]
			got, err := band.DecodeDirectory(data)
			if err != nil {
				t.Fatal(err)
			}
			clear(data) // the result shares no memory with it
			if diff := cmp.Diff(dir, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every byte of a directory is needed: no prefix is valid.
func TestTruncatedDirectories(t *testing.T) {
	t.Parallel()
	data := everything().Encode(nil)
	for n := range data {
		if got, err := band.DecodeDirectory(data[:n]); !errors.Is(err, band.ErrBadDirectory) {
			t.Errorf("the first %d bytes are %v, %v", n, got, err)
		}
	}
	if _, err := band.DecodeDirectory(append(data, 0)); !errors.Is(err, band.ErrBadDirectory) {
		t.Errorf("a byte more: %v", err)
	}
}

func TestBadDirectories(t *testing.T) {
	t.Parallel()
	const (
		head = "01 00000000 00 000000 00 00 00" // totals, bands, owner, mtime
		// one owner, one entry
		table = "01 000000 00"
		hash  = "abababababababababababababababababababababababababababababababab"
	)
	for name, encoded := range map[string]string{
		"another version":             "02 00000000 00 000000 00 00 00 00 00 00",
		"bands out of order":          "01 00000000 02 05 00 000000 00 00 00 00 00 00",
		"a band too high":             "01 00000000 02 ffffffff0f 01 000000 00 00 00 00 00 00",
		"a mode beyond 07777":         "01 00000000 00 8020 0000 00 00 00 00 00 00",
		"nanoseconds beyond a second": "01 00000000 00 000000 00 00 8094ebdc03 00 00 00",
		"an xattr without a name":     "01 00000000 00 000000 01 00 00 00 00 00 00 00",
		"xattrs out of order":         "01 00000000 00 000000 02 01 62 00 01 61 00 00 00 00 00 00",
		"an entry without an owner":   head + "00 01 01 61 00 01 00",
		"an owner that isn't there":   head + table + "01 01 61 10 01 00 01",
		"text that nobody has":        head + table + "01 02 61 62 00 01 00",
		"text without entries":        head + "00 00 01 61",
		"too little text":             head + table + "01 01 61 00 02 00",
		"an empty name":               head + table + "01 00 00 00 00",
		"the name .":                  head + table + "01 01 2e 00 01 00",
		"the name ..":                 head + table + "01 02 2e2e 00 02 00",
		"a slash in a name":           head + table + "01 03 612f62 00 03 00",
		"a NUL in a name":             head + table + "01 02 6100 00 02 00",
		"a name twice":                head + table + "02 02 6161 00 01 00 00 01 00",
		"names out of order":          head + table + "02 02 6261 00 01 00 00 01 00",
		"a file without its content":  head + table + "01 01 61 00 01 05",
		"content of an empty file":    head + table + "01 01 61 80 01 00" + hash + "00 20",
		"parts of an empty file":      head + table + "01 01 61 04 01 00",
		"the zero reference":          head + table + "01 01 61 80 01 05" + strings.Repeat("00", 34),
		"a place before the first":    head + table + "01 01 61 80 01 05" + hash + "01 20",
		"a place beyond the last":     head + table + "01 01 61 80 01 05" + hash + "8080808020 20",
		"a directory without content": head + "00 01 01 61 01 01",
		"a directory with a time":     head + table + "01 01 61 c1 01 02" + hash + "00 20",
		"a symlink with content":      head + table + "01 01 61 82 01 00" + hash + "00 20",
		"a symlink in parts":          head + table + "01 01 61 06 01 00",
		"a NUL in a target":           head + table + "01 02 6100 02 01 01",
		"unknown for no reason":       head + table + "01 01 61 03 01 00",
		"the link number 0":           head + table + "01 01 61 08 01 00 00",
		"no nanoseconds, written out": head + table + "01 01 61 20 01 00 00000000",
		"too many nanoseconds":        head + table + "01 01 61 20 01 00 00ca9a3b",
		"a number in a long form":     head + table + "01 01 61 00 01 8000",
		"a length beyond any file":    head + table + "01 01 61 80 01 ffffffffffffffffff01" + hash + "00 20",
		"far too many entries":        head + table + "ffffffff0f 01 61 00 01 00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := hex.DecodeString(strings.ReplaceAll(encoded, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := band.DecodeDirectory(data); !errors.Is(err, band.ErrBadDirectory) {
				t.Errorf("it is %+v, %v", got, err)
			}
		})
	}
	// The same without errors is valid.
	for _, encoded := range []string{
		head + "00 00 00", head + table + "01 01 61 00 01 00", head + table + "01 01 61 80 01 05" + hash + "00 20",
		head + table + "02 02 6162 00 01 00 00 01 00", head + table + "01 01 61 03 01 01", head + table + "01 02 6162 02 01 01",
		head + "00 01 01 61 81 01" + hash + "00 20", head + table + "01 01 61 20 01 00 01000000",
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(encoded, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := band.DecodeDirectory(data); err != nil {
			t.Errorf("%s: %v", encoded, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	f.Add((&band.Directory{}).Encode(nil))
	f.Add(everything().Encode(nil))
	f.Add(packages()[3].Encode(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir, err := band.DecodeDirectory(data)
		if err != nil {
			if !errors.Is(err, band.ErrBadDirectory) || dir != nil {
				t.Errorf("the error is %v", err)
			}
			return
		}
		again, err := band.DecodeDirectory(dir.Encode(nil))
		if diff := cmp.Diff(dir, again); diff != "" || err != nil {
			t.Error(diff, err)
		}
	})
}

func TestFind(t *testing.T) {
	t.Parallel()
	d := everything()
	for name, want := range map[string]int{"\x01\xff\n": 0, "dir": 4, "empty link": 7} {
		if got, ok := d.Find(name); got != want || !ok {
			t.Errorf("%q is at %d, %v", name, got, ok)
		}
	}
	for name, want := range map[string]int{"": 0, "dir-": 5, "z": 8} {
		if got, ok := d.Find(name); got != want || ok {
			t.Errorf("%q would be at %d, %v", name, got, ok)
		}
	}
}

func TestBands(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]uint32{0, 7, math.MaxUint32}, everything().OwnBands()); diff != "" {
		t.Error(diff)
	}
	if got := (&band.Directory{}).OwnBands(); len(got) != 0 {
		t.Errorf("an empty directory names %v", got)
	}
	one := []uint32{4, 5}
	merged := band.UnionBands(one)
	merged[0] = 9
	if one[0] != 4 {
		t.Error("the result shares memory with what was merged")
	}
	total := band.Totals{Files: 1, Dirs: 2, Unknown: 3, Bytes: 4}
	total.Add(band.Totals{Files: 10, Dirs: 20, Unknown: 30, Bytes: 40})
	if diff := cmp.Diff(band.Totals{Files: 11, Dirs: 22, Unknown: 33, Bytes: 44}, total); diff != "" {
		t.Error(diff)
	}
}
