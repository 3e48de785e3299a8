package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// maxSegments is how many names a transcript's segments can have: three digits
// are all that other versions of the tool read.
const maxSegments = 999

// Transcript is a stored transcript: blobs of whole lines in order. Joined by
// newlines they are its text, whose hash goes with them.
type Transcript struct {
	Segments []git.OID
	Hash     string // "sha256:<64 hex>", empty without segments
}

// TranscriptIn returns the transcript that a session's directory holds, in a
// shadow tree or on the metadata branch: segments, chunks or the one blob of
// other versions, or a legacy full.log. The hash is the one that is beside
// them; where there is none the blobs are read for it. It returns false if
// there is no transcript.
//
// What it finds in a shadow tree may be unredacted: see [Segmenter.Restore].
func TranscriptIn(ctx context.Context, repo *git.Repo, dir git.OID) (Transcript, bool, error) {
	entries, err := repo.Tree(ctx, dir)
	if err != nil {
		return Transcript{}, false, fmt.Errorf("read metadata directory: %w", err)
	}
	t := Transcript{Segments: segmentsIn(entries)}
	if len(t.Segments) == 0 {
		return Transcript{}, false, nil
	}
	stated, err := readEntry(ctx, repo, entries, hashFile)
	if err != nil {
		return Transcript{}, false, err
	}
	if t.Hash = string(stated); isContentHash(t.Hash) {
		return t, true, nil
	}
	sum := sha256.New()
	if _, err := t.Copy(ctx, repo, sum); err != nil {
		return Transcript{}, false, err
	}
	t.Hash = contentHash(sum)
	return t, true, nil
}

// segmentsIn returns the blobs of the transcript in a metadata directory.
func segmentsIn(entries []git.TreeEntry) []git.OID {
	blobs := make(map[string]git.OID, len(entries))
	for _, e := range entries {
		if e.Mode == git.ModeFile || e.Mode == git.ModeExec {
			blobs[e.Name] = e.OID
		}
	}
	var segments []git.OID
	for blobs[segmentName(len(segments))] != "" {
		segments = append(segments, blobs[segmentName(len(segments))])
	}
	if len(segments) == 0 && blobs[legacyFile] != "" {
		segments = append(segments, blobs[legacyFile])
	}
	return segments
}

// Copy writes the transcript's text to w, a segment at a time.
func (t Transcript) Copy(ctx context.Context, repo *git.Repo, w io.Writer) (int64, error) {
	var written int64
	for i, oid := range t.Segments {
		blob, err := readBlobWithin(ctx, repo, oid, min(maxBlob, maxTranscript-written))
		if err != nil {
			return written, fmt.Errorf("read segment %d: %w", i, err)
		}
		if i > 0 {
			blob = append([]byte{'\n'}, blob...)
		}
		n, err := w.Write(blob)
		written += int64(n)
		if err != nil {
			return written, fmt.Errorf("copy segment %d: %w", i, err)
		}
	}
	return written, nil
}

// entries are the transcript's files in a metadata directory.
func (t Transcript) entries() ([]git.TreeEntry, error) {
	if len(t.Segments) > maxSegments {
		return nil, fmt.Errorf("transcript of %d segments: %w", len(t.Segments), ErrTooLarge)
	}
	entries := make([]git.TreeEntry, len(t.Segments))
	for i, oid := range t.Segments {
		entries[i] = git.TreeEntry{Mode: git.ModeFile, Name: segmentName(i), OID: oid}
	}
	return entries, nil
}

// segmentName is the file name of the segment i, from 0.
func segmentName(i int) string {
	if i == 0 {
		return transcriptFile
	}
	return fmt.Sprintf("%s.%03d", transcriptFile, i)
}

// hashPrefix names the hash function in a content hash.
const hashPrefix = "sha256:"

func contentHash(sum hash.Hash) string { return hashPrefix + hex.EncodeToString(sum.Sum(nil)) }

func isContentHash(s string) bool {
	digits, found := strings.CutPrefix(s, hashPrefix)
	return found && len(digits) == hex.EncodedLen(sha256.Size) && isHex(digits)
}

// readBlob reads an object that must be a blob of a size that could be written.
func readBlob(ctx context.Context, repo *git.Repo, oid git.OID) ([]byte, error) {
	return readBlobWithin(ctx, repo, oid, maxBlob)
}

// readBlobWithin reads a blob of at most limit bytes: git.ErrTooMuch if it is larger.
func readBlobWithin(ctx context.Context, repo *git.Repo, oid git.OID, limit int64) ([]byte, error) {
	object, err := repo.ReadWithin(ctx, string(oid), max(limit, 0))
	if err != nil {
		return nil, err
	}
	if object.Type != "blob" {
		return nil, fmt.Errorf("%s is a %s, not a blob", oid, object.Type)
	}
	return object.Data, nil
}
