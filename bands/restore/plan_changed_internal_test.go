package restore

import (
	"testing"

	"github.com/seed-3aff656d/entire/bands/band"
)

// A file that was restored from pieces of a raw band is stored as records at the next
// snapshot, or the other way round: an undo has to find it unchanged.
func TestStateDependsOnContentOnly(t *testing.T) {
	t.Parallel()
	of := func(parts ...band.Part) stateID {
		s, ok := stateOf("large", &band.Entry{Name: "large", Kind: band.File, Size: 2 << 20, Parts: true},
			func(band.Ref) ([]band.Part, error) { return parts, nil })
		if !ok {
			t.Fatal("the parts were not read")
		}
		return s.stateID
	}
	hash := band.Hash{1, 2, 3}
	piece := band.Part{Kind: band.PiecePart, Length: 1 << 20, Ref: band.Ref{Hash: hash, Band: 7, Offset: 256}}
	record := band.Part{Kind: band.DataPart, Length: 1 << 20, Ref: band.Ref{Hash: hash, Band: 1, Offset: 90}}
	hole := band.Part{Kind: band.HolePart, Length: 1 << 20}
	if of(piece, piece) != of(record, piece) || of(piece, piece) != of(record, record) {
		t.Error("where a part is stored counts")
	}
	if of(hole, record) == of(record, record) || of(hole, record) == of(record, hole) {
		t.Error("holes don't count")
	}
}
