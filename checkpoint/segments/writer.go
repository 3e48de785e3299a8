package segments

import (
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"fmt"
	"hash"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

const (
	// The first smallSegments segments end at smallSegment bytes of raw
	// transcript, the others at largeSegment. Other sizes would make other
	// blobs of transcripts that are stored already.
	smallSegments = 256
	smallSegment  = 256 << 10
	largeSegment  = 1 << 20
)

// Redactor takes the secrets out of what a session wrote.
type Redactor interface {
	// Line redacts one line of a transcript, and returns one line.
	Line(line []byte) []byte
	// Text redacts a text.
	Text(text string) string
}

// RedactLine redacts one line. It ends with ctx, if the redactor can.
func RedactLine(ctx context.Context, r Redactor, line []byte) ([]byte, error) {
	stoppable, ok := r.(interface {
		LineContext(ctx context.Context, line []byte) ([]byte, error)
	})
	if !ok {
		return r.Line(line), nil
	}
	return stoppable.LineContext(ctx, line)
}

// Writer stores a session's transcript as segments. Where equal transcripts
// are cut depends on nothing but their raw bytes, so their segments are equal
// however often and in whatever steps they were extended.
type Writer struct {
	Repo   *git.Repo
	Redact Redactor
	// LineTimeout is how long a line may take to be redacted, 0 for no limit. Of one
	// that takes longer its length is stored.
	LineTimeout time.Duration
	// Omit is called for a line that took too long, with its length; nil if it doesn't
	// matter.
	Omit func(bytes int)
	// Side is the file that holds the ids of the closed segments, one in a line.
	Side func(session.Segments) session.Side
}

// Extend stores the lines of the transcript path from where st ends up to the
// offset to, which is that of a cursor, as segment blobs. Of these it takes as
// many whole lines as budget bytes of raw transcript allow, all if budget is 0;
// a line longer than the budget is left for a call that has none.
//
// It reads and redacts these lines only. If what st says is stored was lost
// meanwhile, it begins anew, within the same budget, also where nothing new is
// to be stored. (That closed segments still exist it takes for granted: see
// Verify.)
//
// The state answered is as far as it came, also beside an error: that of ctx
// as well leaves everything before it stored. It counts once it is saved.
func (s Writer) Extend(ctx context.Context, st session.Segments, path string, to, budget int64) (session.Segments, error) {
	e, err := s.resume(ctx, st)
	if errors.Is(err, ErrLost) {
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

// Transcript returns the blobs and the hash of what st says is stored. ErrLost
// means that Extend must begin anew.
func (s Writer) Transcript(st session.Segments) (Transcript, error) {
	if st.Lines == 0 {
		return Transcript{}, nil
	}
	sum, err := resumeHash(st)
	if err != nil {
		return Transcript{}, err
	}
	segments, err := s.closed(st)
	if err != nil {
		return Transcript{}, err
	}
	if st.Open != "" {
		segments = append(segments, git.OID(st.Open))
	}
	return Transcript{Segments: segments, Hash: ContentHash(sum)}, nil
}

// width is the length of a line of the side file.
func (s Writer) width() int { return s.Repo.Format.HexLen() + 1 }

// closed reads the ids of the closed segments.
func (s Writer) closed(st session.Segments) ([]git.OID, error) {
	if st.Closed < 0 || st.Closed >= maxSegments || st.Lines < 0 || st.OpenRaw < 0 || st.OpenRaw > st.Raw ||
		st.Open != "" && !s.Repo.Format.Valid(git.OID(st.Open)) {
		return nil, fmt.Errorf("%w: damaged state", ErrLost)
	}
	width := s.width()
	data, err := s.Side(st).Read(int64(st.Closed * width))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLost, err)
	}
	ids := make([]git.OID, 0, st.Closed+1)
	for ; len(data) > 0; data = data[width:] {
		id := git.OID(data[:width-1])
		if !s.Repo.Format.Valid(id) || data[width-1] != '\n' {
			return nil, fmt.Errorf("%w: damaged list of segments", ErrLost)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// resume begins an extension of st.
func (s Writer) resume(ctx context.Context, st session.Segments) (*extension, error) {
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
		return nil, fmt.Errorf("%w: %w", ErrLost, err)
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
		return nil, fmt.Errorf("%w: the hash can't be resumed", ErrLost)
	}
	if err := state.UnmarshalBinary(st.Hash); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLost, err)
	}
	return sum, nil
}
