package tracking

import (
	"slices"

	"github.com/seed-3aff656d/entire/session"
)

// Tail is the data to be appended to a side file.
type Tail struct {
	at   int64 // the offset at which it is written
	Data []byte
}

// Add adds data after the first valid bytes of the file, and returns the new number of valid
// bytes.
func (t *Tail) Add(valid int64, data []byte) int64 {
	if valid != t.at+int64(len(t.Data)) {
		t.at, t.Data = valid, nil
	}
	t.Data = append(t.Data, data...)
	return valid + int64(len(data))
}

// Read returns the first valid bytes of the file, including pending data.
func (t *Tail) Read(side session.Side, valid int64) ([]byte, error) {
	if len(t.Data) == 0 || valid != t.at+int64(len(t.Data)) {
		return side.Read(valid)
	}
	data, err := side.Read(t.at)
	return append(slices.Clip(data), t.Data...), err
}

// scan calls yield with the first valid bytes of the file, in pieces of whole records.
func (t *Tail) scan(side session.Side, valid int64, size int, yield func(records []byte)) error {
	if len(t.Data) == 0 || valid != t.at+int64(len(t.Data)) {
		return side.Scan(valid, size, yield)
	}
	err := side.Scan(t.at, size, yield)
	yield(t.Data)
	return err
}
