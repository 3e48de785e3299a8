package band_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/bands/band"
)

// sources returns contents like those of a source tree: many small ones, most of which compress.
func sources(n int) (contents [][]byte, total int64) {
	rng := rand.New(rand.NewPCG(1, 2))
	var words [][]byte
	for range 2000 {
		words = append(words, fmt.Appendf(nil, "%x ", rng.Uint32()>>rng.IntN(24)))
	}
	for i := range n {
		size := 200 + rng.IntN(16_000)
		var b bytes.Buffer
		for b.Len() < size {
			if i%5 == 0 {
				b.WriteByte(byte(rng.Uint32()))
			} else {
				b.Write(words[rng.IntN(len(words))])
			}
		}
		contents = append(contents, b.Bytes())
		total += int64(b.Len())
	}
	return contents, total
}

func fill(tb testing.TB, dir string, contents [][]byte) (refs []band.Ref) {
	tb.Helper()
	d, err := band.OpenDedupe(filepath.Join(tb.TempDir(), "dedupe"))
	if err != nil {
		tb.Fatal(err)
	}
	w, err := band.NewWriter(dir, band.WriterOptions{Dedupe: d})
	if err != nil {
		tb.Fatal(err)
	}
	for _, c := range contents {
		ref, err := w.Add(band.DataRecord, c)
		if err != nil {
			tb.Fatal(err)
		}
		refs = append(refs, ref)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := d.Close(); err != nil {
		tb.Fatal(err)
	}
	return refs
}

func BenchmarkAdd(b *testing.B) {
	contents, total := sources(8000)
	b.SetBytes(total)
	for b.Loop() {
		fill(b, b.TempDir(), contents)
	}
}

// A hook most often stores one small file.
func BenchmarkAddOne(b *testing.B) {
	contents, _ := sources(2)
	dir := b.TempDir()
	fill(b, dir, contents[:1])
	for b.Loop() {
		fill(b, dir, contents[1:])
	}
}

func BenchmarkRead(b *testing.B) {
	contents, total := sources(8000)
	dir := b.TempDir()
	refs := fill(b, dir, contents)
	b.SetBytes(total)
	r := band.NewReader(dir)
	var buf []byte
	for b.Loop() {
		for _, ref := range refs {
			var err error
			if buf, err = r.Read(ref, band.DataRecord, buf); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkParts(b *testing.B) {
	parts := make([]band.Part, 1000)
	for i := range parts {
		parts[i] = band.Part{Kind: band.DataPart, Length: 1 << 20, Ref: band.Ref{Band: uint32(i / 8), Offset: uint32(i)}}
	}
	for b.Loop() {
		if _, err := band.DecodeParts(band.EncodeParts(parts)); err != nil {
			b.Fatal(err)
		}
	}
}
