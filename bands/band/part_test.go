package band_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/band"
)

func TestPartsRoundTrip(t *testing.T) {
	t.Parallel()
	ref := band.Ref{Hash: band.Hash{1, 2}, Band: math.MaxUint32, Offset: math.MaxUint32}
	for name, parts := range map[string][]band.Part{
		"one hole":   {{Kind: band.HolePart, Length: math.MaxInt64}},
		"a raw band": {{Kind: band.RawPart, Length: 1 << 50, Ref: band.Ref{Hash: band.Hash{9}, Band: 3}}},
		"pieces of a raw band": {
			{Kind: band.PiecePart, Length: 1 << 20, Ref: band.Ref{Hash: band.Hash{7}, Band: 3}},
			{Kind: band.PiecePart, Length: 5, Ref: band.Ref{Hash: band.Hash{8}, Band: 3, Offset: 1 << 20 / band.PieceUnit}},
			{Kind: band.DataPart, Length: 4096, Ref: ref},
		},
		"the first record": {{Kind: band.DataPart, Length: 1, Ref: band.Ref{Offset: 16}}},
		"data and holes": {
			{Kind: band.DataPart, Length: band.MaxRecord, Ref: ref},
			{Kind: band.HolePart, Length: 1},
			{Kind: band.DataPart, Length: 4096, Ref: ref},
			{Kind: band.DataPart, Length: 4096, Ref: ref},
			{Kind: band.HolePart, Length: 1 << 40},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := band.DecodeParts(band.EncodeParts(parts))
			if diff := cmp.Diff(parts, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
}

func TestBadParts(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("ab", 32)
	for name, encoded := range map[string]string{
		"nothing":                       "",
		"another version":               "03 01 01 05",
		"pieces' version without any":   "02 01 01 05",
		"a piece in the first version":  "01 01 04 05" + hash + "00",
		"a piece at no page":            "02 02 01 05 04 05" + hash + "00",
		"a piece longer than a record":  "02 01 04 81808020" + hash + "00",
		"no count":                      "01",
		"no part":                       "01 00",
		"a part too few":                "01 02 01 05",
		"bytes behind":                  "01 01 01 05 00",
		"an unknown kind":               "01 01 04 05",
		"an empty part":                 "01 01 01 00",
		"a long form":                   "01 01 01 85 00",
		"two holes":                     "01 02 01 05 01 05",
		"too long together":             "01 02 01 ffffffffffffffff7f 02 01" + hash + "00 10",
		"longer than any file":          "01 01 01 ffffffffffffffffff01",
		"data longer than a record":     "01 01 02 81808020" + hash + "00 10",
		"data without a hash":           "01 01 02 05 abab",
		"data without a place":          "01 01 02 05" + hash,
		"a number beyond all":           "01 01 02 05" + hash + "8080808010 10",
		"a raw part among others":       "01 02 03 05" + hash + "00 01 05",
		"others beside a raw part":      "01 02 01 05 03 05" + hash + "00",
		"a raw part with an offset":     "01 01 03 05" + hash + "00 10",
		"more parts than there are":     "01 ffffffff0f 01 05",
		"a count that is no count":      "01 ffffffffffffffffffff",
		"far too many, and none":        "01 ffff03",
		"an end in the middle of a way": "01 01 01 80",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := hex.DecodeString(strings.ReplaceAll(encoded, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := band.DecodeParts(data); !errors.Is(err, band.ErrBadParts) {
				t.Errorf("it is %v, %v", got, err)
			}
		})
	}
}

func FuzzDecodeParts(f *testing.F) {
	f.Add([]byte{1, 1, 1, 5})
	f.Add(band.EncodeParts([]band.Part{
		{Kind: band.DataPart, Length: 300, Ref: band.Ref{Band: 1, Offset: 16}}, {Kind: band.HolePart, Length: 5},
	}))
	f.Add(band.EncodeParts([]band.Part{{Kind: band.RawPart, Length: 300, Ref: band.Ref{Band: 1}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		parts, err := band.DecodeParts(data)
		if err != nil {
			return
		}
		if again := band.EncodeParts(parts); !bytes.Equal(again, data) {
			t.Errorf("%x comes back as %x", data, again)
		}
	})
}

// A band may contain any bytes, a reference any numbers.
func FuzzReader(f *testing.F) {
	valid := one(f, 0)
	f.Add(valid, uint32(16), byte(band.DataRecord), true)
	f.Add(valid[:40], uint32(16), byte(band.DataRecord), true)
	packed := f.TempDir()
	w := writer(f, packed, band.WriterOptions{})
	add(f, w, band.ListRecord, text(1000))
	syncBands(f, w)
	f.Add(append(valid, mustRead(f, packed)[16:]...), uint32(len(valid)), byte(band.ListRecord), true)
	f.Fuzz(func(t *testing.T, data []byte, offset uint32, kind byte, signed bool) {
		ref := band.Ref{Offset: offset}
		if int64(offset)+52 <= int64(len(data)) {
			copy(ref.Hash[:], data[offset+16:])
			if signed {
				sign(data[offset:])
			}
		}
		dir := t.TempDir()
		put(t, dir, "0", data)
		r := reader(t, dir)
		content, err := r.Read(ref, band.RecordKind(kind), nil)
		if err != nil && !errors.Is(err, band.ErrDamaged) {
			t.Errorf("the error is %v", err)
		}
		raw, _, sizeErr := r.Size(ref, band.RecordKind(kind))
		if err == nil && (sizeErr != nil || raw != int64(len(content)) || !r.Check(ref, band.RecordKind(kind))) {
			t.Errorf("%d bytes, the header says %d, %v", len(content), raw, sizeErr)
		}
		// A writer can append to the band.
		w := writer(t, dir, band.WriterOptions{})
		added := add(t, w, band.DataRecord, []byte("new"))
		syncBands(t, w)
		if got := read(t, reader(t, dir), added, band.DataRecord); string(got) != "new" {
			t.Errorf("what was added is %q", got)
		}
	})
}

func mustRead(tb testing.TB, dir string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "0"))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// sign writes the correct checksum into the record.
func sign(record []byte) {
	end := int64(52) + int64(binary.LittleEndian.Uint32(record[8:]))
	if end > int64(len(record)) {
		return
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Checksum(record[:48], table), table, record[52:end])
	binary.LittleEndian.PutUint32(record[48:], sum)
}
