package checkpoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// Mask redacts the stored transcript to which st refers again and returns the new state. Segments
// in which there is nothing to replace stay the same. The list of closed segments goes into the
// second of the two side files, or into the first: the caller chooses the one to which no saved
// state refers. ErrTranscriptLost means that Extend must begin anew.
func (s SegmentWriter) Mask(ctx context.Context, st session.Segments, second bool) (session.Segments, error) {
	t, err := s.Transcript(st)
	if err != nil {
		return st, err
	}
	sum := sha256.New()
	var list bytes.Buffer
	changed := false
	for i, oid := range t.Segments {
		blob, err := ReadBlob(ctx, s.Repo, oid)
		if errors.Is(err, git.ErrMissing) {
			err = fmt.Errorf("%w: %w", ErrTranscriptLost, err)
		}
		if err != nil {
			return st, fmt.Errorf("mask transcript: %w", err)
		}
		clean, err := MaskLines(ctx, s.Redact, blob)
		if err != nil {
			return st, fmt.Errorf("mask transcript: %w", err)
		}
		if !bytes.Equal(clean, blob) {
			changed = true
			if oid, err = WriteBlob(s.Repo, clean); err != nil {
				return st, fmt.Errorf("mask transcript: %w", err)
			}
		}
		if i > 0 {
			sum.Write([]byte{'\n'})
		}
		sum.Write(clean)
		if i < st.Closed {
			list.WriteString(string(oid) + "\n")
		} else {
			t.Segments[i] = oid
		}
	}
	if !changed {
		return st, nil
	}
	next := st
	next.Second, next.List = second, listSum(0, list.Bytes())
	if next.Open != "" {
		next.Open = string(t.Segments[st.Closed])
	}
	state, ok := sum.(encoding.BinaryMarshaler)
	if !ok {
		return st, errors.New("the hash can't be saved")
	}
	if next.Hash, err = state.MarshalBinary(); err != nil || list.Len() == 0 {
		return next, err
	}
	side := s.Side(next)
	if _, err := side.Append(0, list.Bytes()); err != nil {
		return st, fmt.Errorf("mask transcript: %w", err)
	}
	return next, side.Sync()
}

// MaskLines redacts the lines of a stored text.
func MaskLines(ctx context.Context, r Redactor, text []byte) ([]byte, error) {
	lines := bytes.Split(text, []byte{'\n'})
	for i, line := range lines {
		redacted, err := RedactLine(ctx, r, line)
		if err != nil {
			return nil, err
		}
		if len(redacted) > MaxLine {
			redacted = OmittedLine(len(line))
		}
		lines[i] = redacted
	}
	return bytes.Join(lines, []byte{'\n'}), nil
}
