package band_test

import (
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestExampleDirectory(t *testing.T) {
	t.Parallel()
	hello, _ := band.ParseHash("5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03")
	want := &band.Directory{
		Attr:   band.Attr{Mode: 0o755, UID: 1000, GID: 1000, Mtime: at(1_700_000_000, 0)},
		Totals: band.Totals{Files: 3, Dirs: 1, Unknown: 1, Bytes: 6},
		Bands:  []uint32{7, 9},
		Entries: []band.Entry{
			{
				Name: "hello", Kind: band.File, Size: 6, Content: band.Ref{Hash: hello, Band: 7, Offset: 16},
				Attr: band.Attr{Mode: 0o644, UID: 1000, GID: 1000, Mtime: at(1_700_000_005, 500)},
			},
			{
				Name: "link", Kind: band.Symlink, Target: "hello",
				Attr: band.Attr{Mode: 0o777, UID: 1000, GID: 1000, Mtime: at(1_700_000_005, 0)},
			},
			{
				Name: "sock", Kind: band.Unknown, Reason: band.Socket,
				Attr: band.Attr{Mode: 0o644, UID: 1000, GID: 1000, Mtime: at(1_700_000_004, 0)},
			},
			{Name: "src", Kind: band.Dir, Content: band.Ref{Hash: hello, Band: 9, Offset: 500}},
		},
	}
	data := testkit.Example(t, "../../docs/formats/bands.md", "directory")
	if diff := cmp.Diff(hex.Dump(data), hex.Dump(want.Encode(nil))); diff != "" {
		t.Error(diff)
	}
	got, err := band.DecodeDirectory(data)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestExamplePagedDirectory(t *testing.T) {
	t.Parallel()
	hello, _ := band.ParseHash("5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03")
	want := &band.Directory{Attr: band.Attr{Mode: 0o755, UID: 1000, GID: 1000, Mtime: at(1_700_000_000, 0)}}
	want.SetPages([]band.Page{
		{Last: "m", Count: 300, Totals: band.Totals{Files: 300, Bytes: 4708}, Bands: []uint32{7}, Ref: band.Ref{Hash: hello, Band: 7, Offset: 16}},
		{Last: "z", Count: 250, Totals: band.Totals{Files: 249, Dirs: 1, Bytes: 10}, Bands: []uint32{7, 9}, Ref: band.Ref{Hash: hello, Band: 8, Offset: 516}},
	})
	data := testkit.Example(t, "../../docs/formats/bands.md", "paged directory")
	if diff := cmp.Diff(hex.Dump(data), hex.Dump(want.Encode(nil))); diff != "" {
		t.Error(diff)
	}
	got, err := band.DecodeDirectory(data)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
