package strategy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Talk is a transcript that was put back.
type Talk struct {
	Session string
	// Path is the transcript, Copy where the former one is kept, empty if there
	// was none or nothing had to change.
	Path, Copy string
	Changed    bool
}

// talkEnd answers whose conversation a point is in, where the transcript is and
// how much of it there was.
func (r *Recorder) talkEnd(p Point) (bands.Causality, error) {
	if p.Snapshot == 0 {
		return bands.Causality{Session: p.Session}, nil
	}
	_, target, err := r.target(p)
	if err == nil && (target.Causality.Session == "" || target.Causality.TranscriptPath == "") {
		err = fmt.Errorf("%s belongs to no conversation", target.Version)
	}
	return target.Causality, err
}

// RewindConversation cuts the transcript of a point's session to what it was at
// that point. The transcript of now is kept as a copy. With preview it only
// answers what it would do.
func (r *Recorder) RewindConversation(ctx context.Context, p Point, preview bool) (Talk, error) {
	cause, err := r.talkEnd(p)
	if err != nil {
		return Talk{}, err
	}
	s, err := r.Sessions.Load(cause.Session)
	if err != nil {
		return Talk{}, err
	}
	talk := Talk{Session: s.ID, Path: s.TranscriptPath}
	if p.Snapshot != 0 && s.TranscriptPath != cause.TranscriptPath {
		return talk, fmt.Errorf("the conversation has moved to %s", s.TranscriptPath)
	}
	most, err := r.taskAnswered(ctx, p, s)
	if err != nil {
		return talk, err
	}
	if p.Snapshot == 0 && most == 0 {
		return talk, fmt.Errorf("%s doesn't tell where the conversation was", p.Shadow.Short())
	}
	kept, size, err := head(s.TranscriptPath, max(cause.TranscriptBytes, most))
	if err != nil {
		return talk, fmt.Errorf("read transcript: %w", err)
	}
	if int64(len(kept)) == size {
		return talk, nil
	}
	talk.Changed = true
	if preview {
		return talk, nil
	}
	talk.Copy, err = r.replaceTranscript(ctx, s.ID, s.TranscriptPath, func(w io.Writer) error {
		_, err := w.Write(kept)
		return err
	})
	return talk, err
}

// head is the beginning of a transcript, up to the last line end at or before
// most bytes, and the size of all of it.
func head(path string, most int64) (data []byte, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if info.Size() < most {
		return nil, 0, fmt.Errorf("it is shorter than it was: %d bytes, not %d", info.Size(), most)
	}
	data, err = io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, 0, err
	}
	if int64(len(data)) < info.Size() {
		data = data[:bytes.LastIndexByte(data, '\n')+1]
	}
	return data, info.Size(), nil
}

// replaceTranscript puts what fill writes in the place of a session's
// transcript. What is there is copied aside first.
func (r *Recorder) replaceTranscript(ctx context.Context, id, path string, fill func(io.Writer) error) (aside string, err error) {
	dir := filepath.Dir(path)
	if _, err := os.Lstat(path); err == nil {
		if err := os.MkdirAll(r.transcriptCopies(), 0o700); err != nil {
			return "", err
		}
		aside = filepath.Join(r.transcriptCopies(), id+"-"+r.Env.Now().UTC().Format("20060102T150405.000")+".jsonl")
		if err := disk.CopyFile(path, aside); err != nil {
			return "", fmt.Errorf("keep the transcript: %w", err)
		}
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := disk.SweepTemp(dir, r.Env.Now().Add(-time.Hour)); err != nil {
		r.Log.WarnContext(ctx, "temporary files not swept", "error", err.Error())
	}
	if err := disk.WriteStream(path, 0o600, fill); err != nil {
		return aside, fmt.Errorf("write the transcript: %w", err)
	}
	r.Log.InfoContext(ctx, "transcript put back", "session_id", id, "path", path, "copy", aside)
	return aside, nil
}
