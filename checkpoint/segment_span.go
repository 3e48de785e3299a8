package checkpoint

import (
	"bytes"
	"context"
	"fmt"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// UnhashedTranscript returns the blobs of the transcript in a session's directory, as
// [TranscriptIn] does, but without the hash, so that no blob is read. There are none if the
// directory has no transcript.
func UnhashedTranscript(ctx context.Context, repo *git.Repo, dir git.OID) (StoredTranscript, error) {
	entries, err := repo.Tree(ctx, dir)
	if err != nil {
		return StoredTranscript{}, fmt.Errorf("read metadata directory: %w", err)
	}
	return StoredTranscript{Segments: SegmentsIn(entries)}, nil
}

// LineSpan is a range of the lines of a transcript, counted from 0.
type LineSpan struct {
	// From is the first line, To the line after the last one, 0 for the end.
	From, To int
	// Total is the number of lines of the transcript, 0 if unknown. With it, segments before From
	// need not be read.
	Total int
}

// heldBytes is the maximum size of segments kept in memory to avoid reading them twice.
const heldBytes = 16 << 20

// Lines yields the lines of a span in order, each without its newline and with its number. The
// lines of a segment that can only be read as a whole are its messages ([transcript.Messages]). A
// line is valid only until yield returns. If the total is known, the segments before the span are
// not read. Lines stops at the first error of yield and returns it unchanged. A span beyond the end
// of the transcript ends there.
func (t StoredTranscript) Lines(ctx context.Context, repo *git.Repo, s LineSpan, yield func(line []byte, n int) error) error {
	r := lineReader{repo: repo, segments: t.Segments, span: s, yield: yield}
	if s.Total > 0 && s.From > 0 {
		if err := r.seek(ctx); err != nil {
			return err
		}
	}
	for r.at < len(r.segments) && (s.To <= 0 || r.line < s.To) {
		text, held := r.held[r.at]
		delete(r.held, r.at)
		if !held {
			var err error
			text, err = ReadBlobWithin(ctx, repo, r.segments[r.at], min(MaxBlob, maxTranscript-r.read))
			if err != nil {
				return fmt.Errorf("read segment %d: %w", r.at, err)
			}
			r.read += int64(len(text))
		}
		split := r.split
		if r.documents = r.documents || r.at == 0; r.documents {
			var messages [][]byte
			if messages, r.documents = transcript.Messages(text); r.documents {
				split = func([]byte) error { return r.messages(messages) }
			}
		}
		if err := split(text); err != nil {
			return err
		}
	}
	return nil
}

// lineReader reads the lines of segments.
type lineReader struct {
	repo     *git.Repo
	segments []git.OID
	span     LineSpan
	yield    func(line []byte, n int) error

	at   int            // the next segment
	line int            // number of its first line
	read int64          // bytes read
	held map[int][]byte // segments that have been read already
	// documents reports that the segments read so far are documents.
	documents bool
}

// seek moves to the segment in which the span begins, by counting lines backward from the end. An
// impossible total is ignored.
func (r *lineReader) seek(ctx context.Context) error {
	r.held = map[int][]byte{}
	first, bytesHeld := r.span.Total, 0
	for i := len(r.segments) - 1; i >= 0; i-- {
		text, err := ReadBlobWithin(ctx, r.repo, r.segments[i], min(MaxBlob, maxTranscript-r.read))
		if err != nil {
			return fmt.Errorf("read segment %d: %w", i, err)
		}
		r.read += int64(len(text))
		if bytesHeld += len(text); bytesHeld <= heldBytes {
			r.held[i] = text
		}
		first -= countLines(text)
		if first <= r.span.From && first >= 0 && (first == 0) == (i == 0) {
			r.at, r.line = i, first
			return nil
		}
		if first <= 0 {
			return nil // the total is wrong: read from the beginning
		}
	}
	return nil
}

// split yields those lines of a segment that are in the span.
func (r *lineReader) split(text []byte) error {
	last := r.at == len(r.segments)-1
	r.at++
	for len(text) > 0 || !last {
		if r.span.To > 0 && r.line >= r.span.To {
			return nil
		}
		line, rest, more := bytes.Cut(text, []byte{'\n'})
		if r.line >= r.span.From {
			if err := r.yield(line, r.line); err != nil {
				return err
			}
		}
		r.line++
		if !more {
			return nil
		}
		text = rest
	}
	return nil
}

// messages yields those messages of a segment that are in the span.
func (r *lineReader) messages(lines [][]byte) error {
	r.at++
	for _, line := range lines {
		if r.line >= r.span.From && (r.span.To <= 0 || r.line < r.span.To) {
			if err := r.yield(line, r.line); err != nil {
				return err
			}
		}
		r.line++
	}
	return nil
}

// countLines counts the lines of a segment, whose last line has no newline.
func countLines(text []byte) int { return bytes.Count(text, []byte{'\n'}) + 1 }

// After returns the part of the transcript that is not in before, an earlier state of it: the
// segments from the first different one on, and a span in them from the first new line on.
func (t StoredTranscript) After(ctx context.Context, repo *git.Repo, before StoredTranscript) (StoredTranscript, LineSpan, error) {
	same := 0
	for same < min(len(t.Segments), len(before.Segments)) && t.Segments[same] == before.Segments[same] {
		same++
	}
	rest := StoredTranscript{Segments: t.Segments[same:]}
	if same >= len(before.Segments) || len(rest.Segments) == 0 {
		return rest, LineSpan{}, nil
	}
	text, err := ReadBlob(ctx, repo, before.Segments[same])
	if err != nil {
		return StoredTranscript{}, LineSpan{}, fmt.Errorf("read segment %d: %w", same, err)
	}
	return rest, LineSpan{From: countLines(bytes.TrimRight(text, "\n"))}, nil
}
