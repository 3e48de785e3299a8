package checkpoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// Restore returns the transcript in a session's directory in a shadow tree, for a session whose
// live transcript no longer exists. Other versions of the tool don't redact it there, so every line
// is redacted, possibly again: blobs with nothing to redact stay the same, others are rewritten. It
// returns false if the directory has no transcript.
func (s SegmentWriter) Restore(ctx context.Context, dir git.OID) (StoredTranscript, bool, error) {
	entries, err := s.Repo.Tree(ctx, dir)
	if err != nil {
		return StoredTranscript{}, false, fmt.Errorf("restore transcript: %w", err)
	}
	found := SegmentsIn(entries)
	if len(found) == 0 {
		return StoredTranscript{}, false, nil
	}
	var t StoredTranscript
	sum := sha256.New()
	for i, oid := range found {
		blob, err := ReadBlob(ctx, s.Repo, oid)
		if err != nil {
			return StoredTranscript{}, false, fmt.Errorf("restore transcript: %w", err)
		}
		if i > 0 {
			sum.Write([]byte{'\n'})
		}
		clean, err := MaskLines(ctx, s.Redact, blob)
		if err != nil {
			return StoredTranscript{}, false, fmt.Errorf("restore transcript: %w", err)
		}
		if i == len(found)-1 {
			clean = bytes.TrimSuffix(clean, []byte{'\n'}) // other versions append a newline
		}
		sum.Write(clean)
		pieces, err := s.pieces(oid, blob, clean)
		if err != nil {
			return StoredTranscript{}, false, fmt.Errorf("restore transcript: %w", err)
		}
		t.Segments = append(t.Segments, pieces...)
	}
	t.Hash = ContentHash(sum)
	return t, true, nil
}

// Verify returns st if the transcript to which it refers is still in the repository, else the state
// from which Extend begins anew. It starts a git process. Call it for a session that has rested for
// weeks, since git's gc may then have removed objects without a reference.
func (s SegmentWriter) Verify(ctx context.Context, st session.Segments) (session.Segments, error) {
	if st.Lines == 0 {
		return st, nil
	}
	t, err := s.Transcript(st)
	if errors.Is(err, ErrTranscriptLost) {
		return st.Anew(), nil
	}
	if err != nil {
		return st, err
	}
	args := []string{"rev-list", "--no-walk", "--objects", "--quiet"}
	for _, oid := range t.Segments {
		args = append(args, string(oid))
	}
	_, err = s.Repo.Run(ctx, args...)
	if _, failed := errors.AsType[*git.ExitError](err); failed {
		return st.Anew(), nil
	}
	return st, err
}

// pieces returns the blobs with the text clean, the redacted content of the blob oid: that blob if
// it is unchanged, else new ones no longer than a chunk.
func (s SegmentWriter) pieces(oid git.OID, blob, clean []byte) ([]git.OID, error) {
	if len(clean) <= MaxLine && bytes.Equal(blob, clean) {
		return []git.OID{oid}, nil
	}
	var ids []git.OID
	for more := true; more; {
		// Cut as many whole lines as fit into a chunk; no line is longer than a chunk.
		piece := clean
		if more = len(clean) > MaxLine; more {
			end := bytes.LastIndexByte(clean[:MaxLine+1], '\n')
			piece, clean = clean[:end], clean[end+1:]
		}
		id, err := WriteBlob(s.Repo, piece)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}
