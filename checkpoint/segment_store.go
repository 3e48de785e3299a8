package checkpoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
)

// RememberingRedactor is a [Redactor] that also replaces the secrets that it found in earlier texts.
type RememberingRedactor interface {
	Redactor
	// Remembered returns the number of these secrets.
	Remembered() int
}

// maskRounds bounds how often stored segments are redacted again because of secrets that were found
// after them. Each round may find more.
const maskRounds = 3

// Store stores a whole transcript whose lines read passes to its argument, and returns it and the number
// of its lines. The segments are those that Extend stores for a file with these lines. Secrets that are
// found in a line are replaced in the lines before it, too. read returns the errors of its argument
// unchanged. Side is not used.
func (s SegmentWriter) Store(ctx context.Context, r RememberingRedactor, read func(add func(line []byte) error) error) (t StoredTranscript, lines int, err error) {
	s.Redact = r
	e := &extension{to: s, sum: sha256.New()}
	var found []int // secrets that were known when a segment was begun
	offset := int64(0)
	err = read(func(line []byte) error {
		offset += int64(len(line)) + 1
		if !e.begun {
			found = append(found, r.Remembered())
		}
		return e.add(ctx, line, offset)
	})
	if err != nil {
		return t, 0, fmt.Errorf("store transcript: %w", err)
	}
	t.Segments, lines = e.ids, e.st.Lines
	if e.dirty {
		oid, err := WriteBlob(s.Repo, e.text.Bytes())
		if err != nil {
			return t, 0, fmt.Errorf("store transcript: %w", err)
		}
		t.Segments = append(t.Segments, oid)
	}
	if lines == 0 {
		return StoredTranscript{}, 0, nil
	}
	t.Hash = ContentHash(e.sum)
	for range maskRounds {
		known := r.Remembered()
		if !slices.ContainsFunc(found, func(n int) bool { return n < known }) {
			break
		}
		if t, err = s.maskAgain(ctx, t, func(segment int) bool { return found[segment] < known }); err != nil {
			return t, 0, fmt.Errorf("store transcript: %w", err)
		}
		for i := range found {
			found[i] = known
		}
	}
	return t, lines, nil
}

// maskAgain redacts segments of a stored transcript again.
func (s SegmentWriter) maskAgain(ctx context.Context, t StoredTranscript, these func(segment int) bool) (StoredTranscript, error) {
	sum := sha256.New()
	for i, oid := range t.Segments {
		blob, err := ReadBlob(ctx, s.Repo, oid)
		if err != nil {
			return t, err
		}
		clean := blob
		if these(i) {
			if clean, err = MaskLines(ctx, s.Redact, blob); err != nil {
				return t, err
			}
		}
		if !bytes.Equal(clean, blob) {
			if t.Segments[i], err = WriteBlob(s.Repo, clean); err != nil {
				return t, err
			}
		}
		if i > 0 {
			sum.Write([]byte{'\n'})
		}
		sum.Write(clean)
	}
	t.Hash = ContentHash(sum)
	return t, nil
}
