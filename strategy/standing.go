package strategy

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
	// StandingSame: it ends with the same line, or is the same byte for byte.
	StandingSame Standing = "same"
	// StandingOlder: the stored one goes on where it ends, or it has no times.
	StandingOlder Standing = "older"
	// StandingNewer: it goes on where the stored one ends.
	StandingNewer Standing = "newer"
)

// lastTime is the time of a stored transcript's last line that has one.
func (r *Recorder) lastTime(ctx context.Context, text checkpoint.Transcript) (time.Time, error) {
	for _, oid := range slices.Backward(text.Segments) {
		blob, err := r.Repo.Read(ctx, string(oid))
		if err != nil {
			return time.Time{}, err
		}
		if at := transcript.LastTime(blob.Data); !at.IsZero() {
			return at, nil
		}
	}
	return time.Time{}, nil
}

// compare finds how what is there stands to what is stored. Its bytes tell
// little: what is stored is redacted, and without the vendor's bulk.
func (r *Recorder) compare(ctx context.Context, log *Log) (err error) {
	log.Local, err = transcript.LastTimeIn(log.Path)
	if errors.Is(err, transcript.ErrNotFound) {
		log.Standing = StandingNone
		return nil
	}
	if err != nil {
		return err
	}
	f, err := os.Open(log.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	there := &mirror{file: bufio.NewReader(f)}
	err = r.copyLog(ctx, *log, there)
	switch {
	case err != nil && !errors.Is(err, errDiffers):
		return err
	case err == nil && !there.ended():
		log.Standing = StandingNewer
	case err == nil, log.Local.Equal(log.Stored) && !log.Local.IsZero():
		log.Standing = StandingSame
	case log.Local.After(log.Stored):
		log.Standing = StandingNewer
	default:
		log.Standing = StandingOlder
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
