package checkpoint

import (
	"bytes"
	"context"
	"encoding"
	"errors"
	"fmt"
	"hash"
	"math"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// MaxLine is the maximum length of a stored line. It is the chunk limit of other versions, which
// can't read a longer line.
const MaxLine = 50 << 20

// slowLine is the length from which the redaction of a line may take long.
const slowLine = 64 << 10

// errBudget ends a scan.
var errBudget = errors.New("budget spent")

// extension is the state of a call of Extend.
type extension struct {
	to SegmentWriter
	st session.Segments
	// before is the number of segments that were closed before the call, ids are those closed
	// since.
	before int
	ids    []git.OID
	sum    hash.Hash
	// text is the stored text of the open segment. begun reports that it has a line (which may be
	// empty), dirty that its blob has not been written.
	text         bytes.Buffer
	begun, dirty bool
	// next is the offset at which the next line begins.
	next int64
	// broken is the error of a segment that could not be closed.
	broken error
}

// scan adds the lines up to the offset to, or as many as budget allows.
func (e *extension) scan(ctx context.Context, path string, to, budget int64) error {
	from := e.st.Raw
	e.next = from
	if from > 0 {
		// If the last line was stored before its newline was written, the next one begins after the
		// newline.
		err := transcript.Lines(ctx, path, from-1, from, func(last []byte, _ int64) error {
			if len(last) > 0 {
				e.next = from + 1
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	err := transcript.Lines(ctx, path, from, to, func(line []byte, end int64) error {
		if budget > 0 && end-from > budget {
			return errBudget
		}
		return e.add(ctx, line, end)
	})
	if errors.Is(err, errBudget) {
		return nil
	}
	return err
}

// add adds one raw line, whose end is the offset after it.
func (e *extension) add(ctx context.Context, line []byte, end int64) error {
	begin := max(e.next, end-int64(len(line))-1)
	stored, err := e.redact(ctx, line)
	if err != nil {
		return err
	}
	if len(stored) > MaxLine {
		stored = OmittedLine(len(line))
	}
	if e.text.Len()+1+len(stored) > MaxBlob {
		return fmt.Errorf("segment %d: %w", e.st.Closed, ErrTooLarge)
	}
	newline := []byte{'\n'}
	if e.st.Lines > 0 {
		e.sum.Write(newline)
	}
	if e.begun {
		e.text.Write(newline)
	} else {
		e.begun, e.st.OpenRaw = true, begin
	}
	e.sum.Write(stored)
	e.text.Write(stored)
	e.dirty = true
	e.st.Raw, e.st.Lines, e.next = end, e.st.Lines+1, end
	// The newline counts even if it has not been written yet: its presence must not move the
	// segment boundary.
	size := int64(math.MaxInt64) // the raw size at which the segment ends
	switch {
	case e.st.Closed < smallSegments:
		size = smallSegment
	case e.st.Closed < maxSegments-1:
		size = largeSegment
	}
	if begin+int64(len(line))+1-e.st.OpenRaw < size {
		return nil
	}
	oid, err := WriteBlob(e.to.Repo, e.text.Bytes())
	if err != nil {
		e.broken = err
		return err
	}
	e.ids = append(e.ids, oid)
	e.text.Reset()
	e.begun, e.dirty = false, false
	e.st.Closed, e.st.Open, e.st.OpenRaw = e.st.Closed+1, "", 0
	return nil
}

// redact returns the stored form of a line. If the redaction exceeds LineTimeout, the line is
// omitted, as no later call would have more time.
func (e *extension) redact(ctx context.Context, line []byte) ([]byte, error) {
	within := ctx
	if e.to.LineTimeout > 0 && len(line) >= slowLine {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, e.to.LineTimeout)
		defer cancel()
	}
	stored, err := RedactLine(within, e.to.Redact, transcript.Stored(line))
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		if e.to.Omit != nil {
			e.to.Omit(len(line))
		}
		return OmittedLine(len(line)), nil
	}
	return stored, err
}

// OmittedLine returns the replacement of a line of size bytes that is too long to be stored or took
// too long to be redacted.
func OmittedLine(size int) []byte {
	return fmt.Appendf(nil, `{"type":"entire-omitted","bytes":%d}`, size)
}

// finish writes the open segment and the ids of closed ones, and returns the new state.
func (e *extension) finish() (session.Segments, error) {
	if e.broken != nil {
		return e.st, e.broken
	}
	if e.dirty {
		oid, err := WriteBlob(e.to.Repo, e.text.Bytes())
		if err != nil {
			return e.st, err
		}
		e.st.Open = string(oid)
	}
	var list bytes.Buffer
	for _, id := range e.ids {
		list.WriteString(string(id) + "\n")
	}
	if len(e.ids) > 0 {
		side := e.to.Side(e.st)
		if _, err := side.Append(int64(e.before*e.to.width()), list.Bytes()); err != nil {
			return e.st, err
		}
		if e.before == 0 || e.st.List != 0 {
			e.st.List = listSum(e.st.List, list.Bytes())
		}
		if err := side.Sync(); err != nil {
			return e.st, err
		}
	}
	state, ok := e.sum.(encoding.BinaryMarshaler)
	if !ok {
		return e.st, errors.New("the hash can't be saved")
	}
	var err error
	e.st.Hash, err = state.MarshalBinary()
	return e.st, err
}
