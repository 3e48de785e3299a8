package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// maxSegments is the maximum number of segments of a transcript: other versions of the tool read
// only three digits in their names.
const maxSegments = 999

// Names of the files of a transcript in a session's directory, in shadow trees and on
// the metadata branch.
const (
	TranscriptFile       = "full.jsonl" // the first segment; the others have .001 and so on appended
	LegacyTranscriptFile = "full.log"
	HashFile             = "content_hash.txt"
)

// maxTranscript is the maximum size of a stored transcript that is read, all segments together.
const maxTranscript = 4 << 30

// maxHashFile is the maximum size of a content hash's file that is read.
const maxHashFile = 8 << 20

// StoredTranscript is a stored transcript: blobs of whole lines in order. Joined by newlines they
// form its text, whose hash is Hash.
type StoredTranscript struct {
	Segments []git.OID
	Hash     string // "sha256:<64 hex>", empty without segments
}

// TranscriptIn returns the transcript in a session's directory, in a shadow tree or on the metadata
// branch: segments, chunks or the single blob of other versions, or a legacy full.log. The hash is
// the one stored with them; if there is none, the blobs are read to compute it. It returns false if
// there is no transcript.
//
// A transcript in a shadow tree may be unredacted: see [SegmentWriter.Restore].
func TranscriptIn(ctx context.Context, repo *git.Repo, dir git.OID) (StoredTranscript, bool, error) {
	entries, err := repo.Tree(ctx, dir)
	if err != nil {
		return StoredTranscript{}, false, fmt.Errorf("read metadata directory: %w", err)
	}
	t := StoredTranscript{Segments: SegmentsIn(entries)}
	if len(t.Segments) == 0 {
		return StoredTranscript{}, false, nil
	}
	if t.Hash, err = statedHash(ctx, repo, entries); err != nil || t.Hash != "" {
		return t, err == nil, err
	}
	sum := sha256.New()
	if _, err := t.Copy(ctx, repo, sum); err != nil {
		return StoredTranscript{}, false, err
	}
	t.Hash = ContentHash(sum)
	return t, true, nil
}

// statedHash returns the content hash stored with a transcript, empty if there is none or it is
// malformed.
func statedHash(ctx context.Context, repo *git.Repo, entries []git.TreeEntry) (string, error) {
	i := slices.IndexFunc(entries, func(e git.TreeEntry) bool { return e.Name == HashFile })
	if i < 0 || entries[i].Mode != git.ModeFile && entries[i].Mode != git.ModeExec {
		return "", nil
	}
	data, err := ReadBlobWithin(ctx, repo, entries[i].OID, maxHashFile)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", HashFile, err)
	}
	digits, prefixed := strings.CutPrefix(string(data), hashPrefix)
	sum, err := hex.DecodeString(digits)
	if !prefixed || err != nil || len(sum) != sha256.Size || strings.ToLower(digits) != digits {
		return "", nil //nolint:nilerr // it is no hash
	}
	return string(data), nil
}

// SegmentsIn returns the blobs of the transcript in a metadata directory.
func SegmentsIn(entries []git.TreeEntry) []git.OID {
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
	if len(segments) == 0 && blobs[LegacyTranscriptFile] != "" {
		segments = append(segments, blobs[LegacyTranscriptFile])
	}
	return segments
}

// Copy writes the transcript's text to w, a segment at a time.
func (t StoredTranscript) Copy(ctx context.Context, repo *git.Repo, w io.Writer) (int64, error) {
	var written int64
	for i, oid := range t.Segments {
		blob, err := ReadBlobWithin(ctx, repo, oid, min(MaxBlob, maxTranscript-written))
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

// Entries returns the transcript's files in a metadata directory.
func (t StoredTranscript) Entries() ([]git.TreeEntry, error) {
	if len(t.Segments) > maxSegments {
		return nil, fmt.Errorf("transcript of %d segments: %w", len(t.Segments), ErrTooLarge)
	}
	entries := make([]git.TreeEntry, len(t.Segments))
	for i, oid := range t.Segments {
		entries[i] = git.TreeEntry{Mode: git.ModeFile, Name: segmentName(i), OID: oid}
	}
	return entries, nil
}

// segmentName returns the file name of segment i, from 0.
func segmentName(i int) string {
	if i == 0 {
		return TranscriptFile
	}
	return fmt.Sprintf("%s.%03d", TranscriptFile, i)
}

// hashPrefix is the prefix of a content hash that names the hash function.
const hashPrefix = "sha256:"

// ContentHash returns the content hash of the text that was written to sum.
func ContentHash(sum hash.Hash) string { return hashPrefix + hex.EncodeToString(sum.Sum(nil)) }
