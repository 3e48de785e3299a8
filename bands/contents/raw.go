package contents

import (
	"io"

	"github.com/seed-3aff656d/entire/bands/band"
)

// Need is a record that has to be read.
type Need struct {
	Kind band.Kind
	Ref  band.Ref
	Raw  int64 // length of a raw band; -1: it is none
	// Piece is the length of a piece of a raw band, 0 of anything else.
	Piece int64
}

func ReadRaw(content *Reader, n Need) (err error) {
	return content.copyRaw(io.Discard, &band.Part{Length: n.Raw, Ref: n.Ref})
}
