package band_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestExampleBand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := writer(t, dir, band.WriterOptions{First: 7})
	refs := []band.Ref{add(t, w, band.DataRecord, []byte("hello\n")), add(t, w, band.ListRecord, band.EncodeParts(examplePartsOf()))}
	syncBands(t, w)
	got, err := os.ReadFile(filepath.Join(dir, "7"))
	if err != nil {
		t.Fatal(err)
	}
	want := testkit.Example(t, "../../docs/formats/bands.md", "band 7")
	if diff := cmp.Diff(hex.Dump(want), hex.Dump(got)); diff != "" {
		t.Error(diff)
	}
	// The example on the page can be read.
	page := t.TempDir()
	put(t, page, "7", want)
	if content := read(t, reader(t, page), refs[0], band.DataRecord); string(content) != "hello\n" {
		t.Errorf("it holds %q", content)
	}
}

// examplePartsOf returns the parts of a file of 3,000,006 bytes with a hole.
func examplePartsOf() []band.Part {
	hello, _ := band.ParseHash("5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03")
	return []band.Part{
		{Kind: band.HolePart, Length: 3_000_000},
		{Kind: band.DataPart, Length: 6, Ref: band.Ref{Hash: hello, Band: 7, Offset: 16}},
	}
}

func TestExampleParts(t *testing.T) {
	t.Parallel()
	want := testkit.Example(t, "../../docs/formats/bands.md", "parts")
	if diff := cmp.Diff(hex.Dump(want), hex.Dump(band.EncodeParts(examplePartsOf()))); diff != "" {
		t.Error(diff)
	}
	got, err := band.DecodeParts(want)
	if diff := cmp.Diff(examplePartsOf(), got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
