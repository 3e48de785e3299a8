package band

import "encoding/binary"

// decoder consumes values from Data. After an invalid value all following ones are zero.
type decoder struct {
	Data []byte
	Bad  bool
}

// Take consumes n bytes; it returns nil if there are fewer.
func (d *decoder) Take(n int) []byte {
	if d.Bad || len(d.Data) < n {
		d.Bad = true
		return nil
	}
	taken := d.Data[:n]
	d.Data = d.Data[n:]
	return taken
}

// Byte consumes one byte.
func (d *decoder) Byte() byte {
	if b := d.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Uvarint consumes a number of at most limit, which must have the shortest encoding.
func (d *decoder) Uvarint(limit uint64) uint64 {
	if len(d.Data) > 0 && d.Data[0] < 0x80 && !d.Bad && uint64(d.Data[0]) <= limit {
		v := d.Data[0]
		d.Data = d.Data[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(d.Data)
	if d.Bad || n <= 0 || v > limit || n > 1 && d.Data[n-1] == 0 {
		d.Bad = true
		return 0
	}
	d.Data = d.Data[n:]
	return v
}
