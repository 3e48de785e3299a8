package rewind

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
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// LogStatus is the result of comparing the agent's transcript of a session with the
// stored one.
type LogStatus string

// The results of a comparison.
const (
	// LogMissing: the agent has no transcript of the session.
	LogMissing LogStatus = "none"
	// LogSame: the times of their last lines are equal, or all bytes are.
	LogSame LogStatus = "same"
	// LogOlder: it is neither the same nor newer.
	LogOlder LogStatus = "older"
	// LogNewer: its last time is later, or it begins with the stored one and has more lines.
	LogNewer LogStatus = "newer"
)

// lastTime returns the time of the last line of a stored transcript that has a time.
func lastTime(ctx context.Context, w *workspace.Workspace, text checkpoint.StoredTranscript) (time.Time, error) {
	for _, oid := range slices.Backward(text.Segments) {
		blob, err := w.Repo.ReadWithin(ctx, string(oid), checkpoint.MaxBlob)
		if err != nil {
			return time.Time{}, err
		}
		if at := transcript.LastTime(blob.Data); !at.IsZero() {
			return at, nil
		}
	}
	return time.Time{}, nil
}

// compare sets the status of a log, by the times of the last lines. Only if these don't decide it
// compares bytes: stored transcripts are redacted and lack large values of the agent's.
func compare(ctx context.Context, w *workspace.Workspace, log *Log) (err error) {
	log.Local, err = transcript.LastTimeIn(log.Path)
	switch {
	case errors.Is(err, transcript.ErrNotFound):
		log.Status = LogMissing
		return nil
	case err != nil:
		return err
	case log.Local.After(log.Stored):
		log.Status = LogNewer
		return nil
	case log.Local.Equal(log.Stored) && !log.Local.IsZero():
		log.Status = LogSame
		return nil
	}
	f, err := os.Open(log.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	there := &mirror{file: bufio.NewReader(f)}
	err = copyLog(ctx, w, *log, there)
	switch {
	case errors.Is(err, errDiffers):
		log.Status = LogOlder
	case err != nil:
		return err
	default:
		log.Status = LogNewer
		if _, err := there.file.ReadByte(); err != nil { // nothing follows
			log.Status = LogSame
		}
	}
	return nil
}

// errDiffers ends a comparison.
var errDiffers = errors.New("differs")

// mirror compares the bytes written to it with a file.
type mirror struct {
	file *bufio.Reader
	buf  []byte
}

// Write returns errDiffers at the first piece that differs from the file.
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
