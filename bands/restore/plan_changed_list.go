package restore

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// ChangedList is a changedSet for lookups. It is kept in the encoding of its file, which takes a
// third of the memory of a slice.
type ChangedList struct {
	data  []byte        // consecutive states, as written by appendState
	marks []changedMark // of every markEvery-th state
}

// changedMark is the offset of a state in the data.
type changedMark struct {
	path   string
	offset int
}

const markEvery = 16

// newChangedList returns the list of the states.
func newChangedList(set changedSet) *ChangedList {
	c := &ChangedList{}
	before := ""
	for i, s := range set.Sorted() {
		c.mark(i, s.path, len(c.data))
		c.data = appendState(c.data, before, &s)
		before = s.path
	}
	return c
}

func (c *ChangedList) mark(number int, path string, offset int) {
	if number%markEvery == 0 {
		c.marks = append(c.marks, changedMark{path, offset})
	}
}

// From yields the states of the path and of the paths after it.
func (c *ChangedList) From(path string) iter.Seq[pathState] {
	return func(yield func(pathState) bool) {
		at, _ := slices.BinarySearchFunc(c.marks, path, func(m changedMark, path string) int { return strings.Compare(m.path, path) })
		if at = max(at-1, 0); at == len(c.marks) {
			return
		}
		r := stateReader{data: c.data[c.marks[at].offset:], path: []byte(c.marks[at].path)}
		for first := true; len(r.data) > 0; first = false {
			id, ok := r.next(first)
			if !ok || string(r.path) >= path && !yield(pathState{string(r.path), id}) {
				return
			}
		}
	}
}

// at returns the states of a path.
func (c *ChangedList) at(path string) (states []stateID) {
	for s := range c.From(path) {
		if s.path != path {
			break
		}
		states = append(states, s.stateID)
	}
	return states
}

// Made reports whether is, the present entry of the path, is what the restore made; nil means
// that the path is missing. The content of a file in parts isn't compared.
func (c *ChangedList) Made(path string, is *band.Entry) bool {
	now, known := stateOf(path, is, nil)
	return slices.ContainsFunc(c.at(path), func(s stateID) bool {
		return s.kind == now.kind && (!known || s.content == now.content)
	})
}

// reaches reports whether the path or something below it is in the list.
func (c *ChangedList) reaches(path string) bool {
	if path == "" {
		return len(c.marks) > 0
	}
	if len(c.at(path)) > 0 {
		return true
	}
	for s := range c.From(path + "/") {
		return strings.HasPrefix(s.path, path+"/")
	}
	return false
}

// Within reports whether all paths are inside the scope.
func (c *ChangedList) Within(in *Selection) bool {
	for s := range c.From("") {
		if in.Relate(s.path) != Inside {
			return false
		}
	}
	return true
}

// appendState encodes a state that follows a state of the path before.
func appendState(data []byte, before string, s *pathState) []byte {
	shared := 0
	for shared < min(len(before), len(s.path)) && before[shared] == s.path[shared] {
		shared++
	}
	data = binary.AppendUvarint(data, uint64(shared))
	data = binary.AppendUvarint(data, uint64(len(s.path)-shared))
	data = append(data, s.path[shared:]...)
	data = append(data, byte(s.kind))
	if s.kind != 0 {
		data = append(append(data, s.content[:]...), s.attr[:]...)
	}
	return data
}

// stateReader consumes states from data.
type stateReader struct {
	data []byte
	path []byte // of the last state
}

// next consumes a state and sets path. At a mark the path is known.
func (r *stateReader) next(marked bool) (id stateID, ok bool) {
	shared, n := binary.Uvarint(r.data)
	rest, m := binary.Uvarint(r.data[max(n, 0):])
	if n <= 0 || m <= 0 {
		return id, false
	}
	r.data = r.data[n+m:]
	if rest >= uint64(len(r.data)) || shared > uint64(len(r.path)) {
		return id, false
	}
	if !marked {
		r.path = append(r.path[:shared], r.data[:rest]...)
	}
	id.kind = band.EntryKind(r.data[rest])
	if r.data = r.data[rest+1:]; id.kind == 0 {
		return id, true
	}
	if len(r.data) < len(id.content)+len(id.attr) {
		return id, false
	}
	r.data = r.data[copy(id.content[:], r.data):]
	r.data = r.data[copy(id.attr[:], r.data):]
	return id, true
}

var errBadChanged = fmt.Errorf("list of changed paths: %w", bands.ErrDamaged)

func decodeChanged(packed []byte) (*ChangedList, error) {
	const most = 1 << 30
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(most))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	data, err := dec.DecodeAll(packed, nil)
	end := len(data) - sha256.Size
	if err != nil || end < len(changedMagic) || string(data[:len(changedMagic)]) != changedMagic {
		return nil, errBadChanged
	}
	if sum := sha256.Sum256(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return nil, errBadChanged
	}
	count, n := binary.Uvarint(data[len(changedMagic):end])
	if n <= 0 || count > uint64(end) {
		return nil, errBadChanged
	}
	c := &ChangedList{data: data[len(changedMagic)+n : end]}
	r := stateReader{data: c.data}
	for i := range int(count) {
		offset := len(c.data) - len(r.data)
		if _, ok := r.next(false); !ok {
			return nil, errBadChanged
		}
		c.mark(i, string(r.path), offset)
	}
	c.data = slices.Clone(c.data[:len(c.data)-len(r.data)])
	return c, nil
}
