package band_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands/band"
)

// packages returns directories like those of a node_modules: about 9,000 with 65,000 files.
func packages() []*band.Directory {
	rng := rand.New(rand.NewPCG(1, 2))
	stems := strings.Fields("index package README LICENSE util helper core types parse test common async stream buffer node map set get is")
	ends := strings.Fields(".js .d.ts .js.map .json .md .mjs .cjs")
	offset, number := uint32(16), uint32(0)
	dirs := make([]*band.Directory, 9000)
	for i := range dirs {
		installed := time.Unix(1_760_000_000+int64(i)/100, rng.Int64N(1e9)).UTC()
		d := &band.Directory{
			Attr:   band.Attr{Mode: 0o755, UID: 1000, GID: 1000, Mtime: installed},
			Totals: band.Totals{Files: 7, Dirs: 1, Bytes: 60_000},
			Bands:  []uint32{number, number + 1},
		}
		for range 1 + rng.IntN(13) {
			name := fmt.Sprintf("%s%s%s", stems[rng.IntN(len(stems))], strings.ToUpper(stems[rng.IntN(len(stems))]), ends[rng.IntN(len(ends))])
			e := band.Entry{Name: name, Kind: band.File, Size: 1 + rng.Int64N(20_000)}
			e.Attr = band.Attr{Mode: 0o644, UID: 1000, GID: 1000, Mtime: installed.Add(time.Duration(rng.IntN(1e7)))}
			var seed [8]byte
			binary.LittleEndian.PutUint64(seed[:], rng.Uint64())
			e.Content = band.Ref{Hash: sha256.Sum256(seed[:]), Band: number, Offset: offset}
			if offset += 52 + uint32(e.Size)/3; offset > band.Limit {
				number, offset = number+1, 16
			}
			d.Entries = append(d.Entries, e)
		}
		slices.SortFunc(d.Entries, func(a, b band.Entry) int { return strings.Compare(a.Name, b.Name) })
		d.Entries = slices.CompactFunc(d.Entries, func(a, b band.Entry) bool { return a.Name == b.Name })
		dirs[i] = d
	}
	return dirs
}

// BenchmarkDecode decodes a whole large tree, with which each restore begins.
func BenchmarkDecode(b *testing.B) {
	var records [][]byte
	var size, entries int
	for _, d := range packages() {
		records = append(records, d.Encode(nil))
		size += len(records[len(records)-1])
		entries += len(d.Entries)
	}
	for b.Loop() {
		for _, r := range records {
			if _, err := band.DecodeDirectory(r); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(size)/float64(entries), "bytes/entry")
	b.ReportMetric(float64(entries), "entries")
}

func BenchmarkEncode(b *testing.B) {
	dirs := packages()
	var buf []byte
	for b.Loop() {
		for _, d := range dirs {
			buf = d.Encode(buf[:0])
		}
	}
}

// BenchmarkLoad loads the same from bands: it reads, checks, decompresses and decodes.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	w, err := band.NewWriter(dir, band.WriterOptions{})
	if err != nil {
		b.Fatal(err)
	}
	var refs []band.Ref
	for _, d := range packages() {
		ref, err := w.Add(band.DirectoryRecord, d.Encode(nil))
		if err != nil {
			b.Fatal(err)
		}
		refs = append(refs, ref)
	}
	added := w.Added()
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := band.NewReader(dir)
		l := band.NewDirectoryLoader(r)
		for _, ref := range refs {
			if _, err := l.Directory(ref); err != nil {
				b.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(added), "bytes/tree")
}

func BenchmarkMerge(b *testing.B) {
	var children [][]uint32
	for i := range uint32(1000) {
		var bands []uint32
		for j := range 1 + i%30 {
			bands = append(bands, i%50+j)
		}
		children = append(children, bands)
	}
	for b.Loop() {
		band.UnionBands(children...)
	}
}
