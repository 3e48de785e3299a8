package conversation

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Standing is how the transcript that the agent has of a session stands to the
// one that is stored.
type Standing string

// The standings.
const (
	// StandingNone: the agent has none.
	StandingNone Standing = "none"
	// StandingSame: the times of their last lines are the same, or all bytes.
	StandingSame Standing = "same"
	// StandingOlder: it is neither the same nor newer.
	StandingOlder Standing = "older"
	// StandingNewer: its last time is later, or it begins with the stored one
	// and goes on.
	StandingNewer Standing = "newer"
)

// lastTime is the time of a stored transcript's last line that has one.
func (r *Logs) lastTime(ctx context.Context, text checkpoint.Transcript) (time.Time, error) {
	for _, oid := range slices.Backward(text.Segments) {
		blob, err := r.Repo.ReadWithin(ctx, string(oid), checkpoint.MaxSegment)
		if err != nil {
			return time.Time{}, err
		}
		if at := transcript.LastTime(blob.Data); !at.IsZero() {
			return at, nil
		}
	}
	return time.Time{}, nil
}

// compare finds how what is there stands to what is stored. The times tell, and
// only where they don't, the bytes: what is stored is redacted, and without the
// vendor's bulk.
func (r *Logs) compare(ctx context.Context, log *Log) (err error) {
	log.Local, err = transcript.LastTimeIn(log.Path)
	switch {
	case errors.Is(err, transcript.ErrNotFound):
		log.Standing = StandingNone
		return nil
	case err != nil:
		return err
	case log.Local.After(log.Stored):
		log.Standing = StandingNewer
		return nil
	case log.Local.Equal(log.Stored) && !log.Local.IsZero():
		log.Standing = StandingSame
		return nil
	}
	f, err := os.Open(log.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	there := &mirror{file: bufio.NewReader(f)}
	err = r.copyLog(ctx, *log, there)
	switch {
	case errors.Is(err, errDiffers):
		log.Standing = StandingOlder
	case err != nil:
		return err
	case there.ended():
		log.Standing = StandingSame
	default:
		log.Standing = StandingNewer
	}
	return nil
}

// errDiffers ends a comparison.
var errDiffers = errors.New("differs")

// mirror compares what is written to it with a file.
type mirror struct {
	file *bufio.Reader
	buf  []byte
}

// Write fails with errDiffers at the first piece that the file hasn't there.
func (m *mirror) Write(piece []byte) (int, error) {
	m.buf = slices.Grow(m.buf[:0], len(piece))[:len(piece)]
	if _, err := io.ReadFull(m.file, m.buf); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, errDiffers
	} else if err != nil {
		return 0, err
	}
	if !bytes.Equal(m.buf, piece) {
		return 0, errDiffers
	}
	return len(piece), nil
}

// ended says whether the file has nothing more.
func (m *mirror) ended() bool {
	_, err := m.file.ReadByte()
	return err != nil
}
