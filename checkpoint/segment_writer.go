package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

const (
	// The first smallSegments segments end after smallSegment bytes of raw transcript, the others
	// after largeSegment. Other sizes would change the blobs of transcripts that are stored
	// already.
	smallSegments = 256
	smallSegment  = 256 << 10
	largeSegment  = 1 << 20
)

// Redactor removes the secrets from a session's records.
type Redactor interface {
	// Line redacts one line of a transcript, and returns one line.
	Line(line []byte) []byte
	// Text redacts a text.
	Text(text string) string
}

// RedactLine redacts one line. It returns early when ctx is done, if the redactor supports that.
func RedactLine(ctx context.Context, r Redactor, line []byte) ([]byte, error) {
	stoppable, ok := r.(interface {
		LineContext(ctx context.Context, line []byte) ([]byte, error)
	})
	if !ok {
		return r.Line(line), nil
	}
	return stoppable.LineContext(ctx, line)
}

// SegmentWriter stores a session's transcript as segments. The segment boundaries depend only on
// the raw bytes, so equal transcripts have equal segments, however often and in whatever steps they
// were extended.
type SegmentWriter struct {
	Repo   *git.Repo
	Redact Redactor
	// LineTimeout is the maximum time for the redaction of a line, 0 for no limit. Of a line that
	// exceeds it only the length is stored.
	LineTimeout time.Duration
	// Omit, unless nil, is called with the length of each line that exceeded LineTimeout.
	Omit func(bytes int)
	// Side returns the file with the ids of the closed segments, one per line.
	Side func(session.Segments) session.Side
}

// Extend stores the lines of the transcript path from the end of st up to the offset to, which is a
// cursor's, as segment blobs. It stores as many whole lines as budget bytes of raw transcript
// allow, all if budget is 0. A line longer than the budget is left for a call without one.
//
// It reads and redacts only these lines. If the transcript to which st refers was lost, it begins
// anew, within the same budget, even if there are no new lines. (It assumes that closed segments
// still exist: see Verify.)
//
// The returned state covers the lines stored so far, also if there is an error; the end of ctx,
// too, keeps everything before it. The state takes effect when it is saved.
func (s SegmentWriter) Extend(ctx context.Context, st session.Segments, path string, to, budget int64) (session.Segments, error) {
	e, err := s.resume(ctx, st)
	if errors.Is(err, ErrTranscriptLost) {
		e, err = s.resume(ctx, st.Anew())
	}
	if err != nil {
		return st, fmt.Errorf("store transcript: %w", err)
	}
	if to <= e.st.Raw {
		return e.st, nil
	}
	scanned := e.scan(ctx, path, to, budget)
	next, err := e.finish()
	if err != nil {
		return st, fmt.Errorf("store transcript: %w", err)
	}
	if scanned != nil {
		return next, fmt.Errorf("store transcript: %w", scanned)
	}
	return next, nil
}

// Transcript returns the blobs and the hash of the transcript to which st refers. ErrTranscriptLost
// means that Extend must begin anew.
func (s SegmentWriter) Transcript(st session.Segments) (StoredTranscript, error) {
	if st.Lines == 0 {
		return StoredTranscript{}, nil
	}
	sum, err := resumeHash(st)
	if err != nil {
		return StoredTranscript{}, err
	}
	segments, err := s.closed(st)
	if err != nil {
		return StoredTranscript{}, err
	}
	if st.Open != "" {
		segments = append(segments, git.OID(st.Open))
	}
	return StoredTranscript{Segments: segments, Hash: ContentHash(sum)}, nil
}

// width returns the length of a line of the side file.
func (s SegmentWriter) width() int { return s.Repo.Format.HexLen() + 1 }

// closed returns the ids of the closed segments.
func (s SegmentWriter) closed(st session.Segments) ([]git.OID, error) {
	if st.Closed < 0 || st.Closed >= maxSegments || st.Lines < 0 || st.OpenRaw < 0 || st.OpenRaw > st.Raw ||
		st.Open != "" && !s.Repo.Format.Valid(git.OID(st.Open)) {
		return nil, fmt.Errorf("%w: damaged state", ErrTranscriptLost)
	}
	width := s.width()
	data, err := s.Side(st).Read(int64(st.Closed * width))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTranscriptLost, err)
	}
	if st.List != 0 && listSum(0, data) != st.List {
		return nil, fmt.Errorf("%w: another list of segments", ErrTranscriptLost)
	}
	ids := make([]git.OID, 0, st.Closed+1)
	for ; len(data) > 0; data = data[width:] {
		id := git.OID(data[:width-1])
		if !s.Repo.Format.Valid(id) || data[width-1] != '\n' {
			return nil, fmt.Errorf("%w: damaged list of segments", ErrTranscriptLost)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// listSum returns the checksum of a list of closed segments, whose beginning has the checksum
// before. A list that another process wrote from other redactions is recognized by it.
func listSum(before uint32, list []byte) uint32 { return crc32.Update(before, crc32.IEEETable, list) }

// resume starts an extension of st.
func (s SegmentWriter) resume(ctx context.Context, st session.Segments) (*extension, error) {
	if _, err := s.closed(st); err != nil {
		return nil, err
	}
	sum, err := resumeHash(st)
	if err != nil {
		return nil, err
	}
	e := &extension{to: s, st: st, before: st.Closed, sum: sum, begun: st.Open != ""}
	if !e.begun {
		return e, nil
	}
	text, err := ReadBlob(ctx, s.Repo, git.OID(st.Open))
	if errors.Is(err, git.ErrMissing) {
		return nil, fmt.Errorf("%w: %w", ErrTranscriptLost, err)
	}
	e.text.Write(text)
	return e, err
}

func resumeHash(st session.Segments) (hash.Hash, error) {
	sum := sha256.New()
	if st.Lines == 0 {
		return sum, nil
	}
	state, ok := sum.(encoding.BinaryUnmarshaler)
	if !ok {
		return nil, fmt.Errorf("%w: the hash can't be resumed", ErrTranscriptLost)
	}
	if err := state.UnmarshalBinary(st.Hash); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTranscriptLost, err)
	}
	return sum, nil
}

// Errors of this package.
var (
	// ErrTooLarge means that a blob would be larger than hosts accept.
	ErrTooLarge = errors.New("too large to be stored")
	// ErrTranscriptLost means that the stored transcript to which a state refers no longer exists.
	ErrTranscriptLost = errors.New("the stored transcript is lost")
)

// MaxBlob is the maximum size of a blob to be written or read: common hosts refuse a push with a
// file of 100 MB, and with it all later pushes of the branch.
const MaxBlob = 95 << 20

// WriteBlob writes a blob of a record, ErrTooLarge if it is larger than MaxBlob.
func WriteBlob(repo *git.Repo, data []byte) (git.OID, error) {
	if len(data) > MaxBlob {
		return "", fmt.Errorf("blob of %d bytes: %w", len(data), ErrTooLarge)
	}
	return repo.WriteBlob(data)
}

// ReadBlob reads a blob of at most MaxBlob bytes.
func ReadBlob(ctx context.Context, repo *git.Repo, oid git.OID) ([]byte, error) {
	return ReadBlobWithin(ctx, repo, oid, MaxBlob)
}

// ReadBlobWithin reads a blob of at most limit bytes, git.ErrTooMuch if it is larger.
func ReadBlobWithin(ctx context.Context, repo *git.Repo, oid git.OID, limit int64) ([]byte, error) {
	object, err := repo.ReadWithin(ctx, string(oid), max(limit, 0))
	if err != nil {
		return nil, err
	}
	if object.Type != "blob" {
		return nil, fmt.Errorf("%s is a %s, not a blob", oid, object.Type)
	}
	return object.Data, nil
}
