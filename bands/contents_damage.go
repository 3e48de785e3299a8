package bands

import (
	"io"

	"github.com/seed-3aff656d/entire/bands/band"
)

// Damaged returns the damaged records of a file, and the buffer for the next call.
func (c *ContentReader) Damaged(e *band.Entry, buf []byte) (bad []band.Damaged, _ []byte) {
	list, err := c.Parts(e)
	if err != nil {
		return []band.Damaged{{Kind: band.ListRecord, Ref: e.Content}}, buf
	}
	for i := range list {
		p := &list[i]
		switch p.Kind {
		case band.HolePart:
		case band.RawPart:
			if c.CheckRaw(p.Ref, p.Length) != nil {
				bad = append(bad, band.Damaged{Ref: p.Ref})
			}
		default:
			data, err := c.data(p, buf)
			if err != nil {
				what := band.Damaged{Kind: band.DataRecord, Ref: p.Ref}
				if p.Kind == band.PiecePart {
					what.Kind = 0
				}
				bad = append(bad, what)
				continue
			}
			buf = data
		}
	}
	return bad, buf
}

// CheckRaw reads a raw band of the length, and returns an error if it doesn't match its hash.
func (c *ContentReader) CheckRaw(ref band.Ref, length int64) error {
	return c.copyRaw(io.Discard, &band.Part{Length: length, Ref: ref})
}
