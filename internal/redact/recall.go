package redact

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// A list of known values, as [Redactor.Known] returns it and [Redactor.Recall] reads it, is a salt
// and a record for each value: its length (2 bytes), a tag of its first bytes (2 bytes) and the
// first bytes of the SHA-256 of the salt and the value. Numbers are little endian. The tag selects
// the places of a text at which the hash is computed; it is so short that it reveals almost nothing
// of the value.
const (
	saltLen   = 16
	tagLen    = 2
	sumLen    = 16
	recordLen = 2 + tagLen + sumLen
	// maxRecords is the maximum number of values in a list.
	maxRecords = maxKnown + maxRemembered
)

// keptValues finds the values of a list.
type keptValues struct {
	listHashes

	filter  [1 << 16 / 64]uint64 // the tags of the values
	records map[uint16][]keptValue
}

// keptValue is a record of a list.
type keptValue struct {
	length int
	sum    [sumLen]byte
}

// listHashes computes the hashes of a list.
type listHashes struct {
	salt []byte
	key  uint64
}

func hashesOf(list []byte) listHashes {
	salt := list[:saltLen]
	key := sha256.Sum256(salt)
	return listHashes{salt, binary.LittleEndian.Uint64(key[:]) | 1}
}

// tag returns the tag of a text of at least prefixLen bytes.
func (h listHashes) tag(text []byte) uint16 {
	return uint16(binary.LittleEndian.Uint64(text) * h.key >> 48)
}

func (h listHashes) sum(value []byte) [sumLen]byte {
	sum := sha256.Sum256(append(slices.Clip(h.salt), value...))
	return [sumLen]byte(sum[:])
}

func (h listHashes) record(value []byte) []byte {
	rec := binary.LittleEndian.AppendUint16(make([]byte, 0, recordLen), uint16(len(value)))
	rec = binary.LittleEndian.AppendUint16(rec, h.tag(value))
	sum := h.sum(value)
	return append(rec, sum[:]...)
}

// recordsOf returns the records of a list.
func recordsOf(list []byte) [][]byte {
	if len(list) < saltLen {
		return nil
	}
	list = list[saltLen:]
	return slices.Collect(slices.Chunk(list[:len(list)/recordLen*recordLen], recordLen))
}

// newKept returns the values of a list without those in known, which are found anyway. It returns
// nil if none remain.
func newKept(list []byte, known ...*knownValues) *keptValues {
	k := &keptValues{listHashes: hashesOf(list), records: make(map[uint16][]keptValue)}
	found := make(map[string]bool)
	for _, values := range known {
		for v := range values.all() {
			found[string(k.record([]byte(v)))] = true
		}
	}
	for _, rec := range recordsOf(list) {
		length := int(binary.LittleEndian.Uint16(rec))
		if found[string(rec)] || length < prefixLen || length > maxKnownLen {
			continue
		}
		tag := binary.LittleEndian.Uint16(rec[2:])
		k.filter[tag>>6] |= 1 << (tag & 63)
		k.records[tag] = append(k.records[tag], keptValue{length, [sumLen]byte(rec[2+tagLen:])})
	}
	if len(k.records) == 0 {
		return nil
	}
	return k
}

// find lists the values in text.
func (k *keptValues) find(text []byte) []Finding {
	var found []Finding
	for i := 0; i+prefixLen <= len(text); i++ {
		tag := k.tag(text[i:])
		if k.filter[tag>>6]>>(tag&63)&1 == 0 {
			continue
		}
		for _, v := range k.records[tag] {
			if v.length <= len(text)-i && k.sum(text[i:i+v.length]) == v.sum {
				found = append(found, Finding{Rule: worktreeValues, Secret: string(text[i : i+v.length]), Start: i, End: i + v.length})
				i += v.length - 1
				break
			}
		}
	}
	return found
}

// Recall makes r also replace the values of a list that another process got from Known. It does
// nothing if r has no memory.
func (r *Redactor) Recall(list []byte) {
	m := r.memory
	if m == nil || len(recordsOf(list)) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, l := range m.lists {
		if bytes.HasPrefix(l, list) {
			return
		}
		if bytes.HasPrefix(list, l) {
			m.lists, m.recalled = slices.Delete(m.lists, i, i+1), nil
			break
		}
	}
	m.lists = append(m.lists, bytes.Clone(list))
	m.version++
}

// Known returns a list with those of the other list, which may be empty, and behind them those that
// r knows by now: the values of the worktree's secret files and of the environment, and the random
// secrets that were found. It returns the list itself if it has all of them, or as many as it can
// have, or if r has no memory.
func (r *Redactor) Known(list []byte) []byte {
	if r.memory == nil {
		return list
	}
	fromFiles := r.values()
	r.memory.mu.RLock()
	defer r.memory.mu.RUnlock()
	has := make(map[string]bool)
	for _, rec := range recordsOf(list) {
		has[string(rec)] = true
	}
	out := list
	for _, known := range []*knownValues{fromFiles, r.memory.known} {
		for v := range known.all() {
			if len(out) < saltLen {
				out = make([]byte, saltLen)
				_, _ = rand.Read(out) // never fails
			}
			rec := hashesOf(out).record([]byte(v))
			if !has[string(rec)] && len(has) < maxRecords {
				has[string(rec)] = true
				out = append(slices.Clip(out), rec...)
			}
		}
	}
	return out
}
