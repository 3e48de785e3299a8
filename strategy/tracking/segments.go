package tracking

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// StoreTranscript stores in git the part of the transcript that has been read, redacting at
// most budget bytes, and reports whether all of that is stored.
func StoreTranscript(ctx context.Context, w *workspace.Workspace, s *session.State, budget int64) (complete bool, err error) {
	rec := &s.Recorder
	if s.TranscriptPath == "" || rec.Cursor.Offset == 0 {
		return true, nil
	}
	if err := w.CheckTombstones(); err != nil {
		return false, err
	}
	if s.LastInteraction != nil && w.Env.Now().Sub(*s.LastInteraction) > rested {
		if rec.Stored, err = Segmenter(w, s).Verify(ctx, rec.Stored); err != nil {
			return false, err
		}
	}
	if rec.Stored.Lines > 0 && rec.Stored.Raw >= rec.Cursor.Offset {
		return true, nil
	}
	if rec.Stored.Lines == 0 { // what is known now is replaced in all lines
		rec.Known = w.Redact.Known(rec.Known)
		rec.Stored.Masked = len(rec.Known)
	}
	next, err := Segmenter(w, s).Extend(ctx, rec.Stored, s.TranscriptPath, rec.Cursor.Offset, budget)
	rec.Stored = next
	rec.Known = w.Redact.Known(rec.Known)
	if err != nil {
		return false, err
	}
	return rec.Stored.Raw >= rec.Cursor.Offset, nil
}

// StoredSegments returns the stored part of the session's transcript. If some of that is lost,
// it is stored again, as far as a hook has time.
func StoredSegments(ctx context.Context, w *workspace.Workspace, s *session.State) (checkpoint.StoredTranscript, error) {
	t, err := Segmenter(w, s).Transcript(s.Recorder.Stored)
	if !errors.Is(err, checkpoint.ErrTranscriptLost) {
		return t, err
	}
	s.Recorder.Stored = s.Recorder.Stored.Anew()
	if _, err := StoreTranscript(ctx, w, s, RedactNow); err != nil {
		return t, err
	}
	return Segmenter(w, s).Transcript(s.Recorder.Stored)
}

// Segmenter returns the writer that stores the session's transcript in segments.
func Segmenter(w *workspace.Workspace, s *session.State) checkpoint.SegmentWriter {
	return checkpoint.SegmentWriter{
		Repo: w.Repo, Redact: w.Redact, LineTimeout: w.Options.LineTimeout,
		Side: func(st session.Segments) session.Side { return w.Sessions.SegmentsOf(s.ID, st) },
		Omit: func(bytes int) {
			w.Log.Warn("line of a transcript left out: redacting it took too long", "session_id", s.ID, "bytes", bytes)
		},
	}
}
