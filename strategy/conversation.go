package strategy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
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
	talk.Copy, err = r.replaceTranscript(ctx, s.ID, s.TranscriptPath, kept)
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

// replaceTranscript puts data in the place of a session's transcript. What is
// there is copied aside first.
func (r *Recorder) replaceTranscript(ctx context.Context, id, path string, data []byte) (aside string, err error) {
	if _, err := os.Lstat(path); err == nil {
		if err := os.MkdirAll(r.transcriptCopies(), 0o700); err != nil {
			return "", err
		}
		aside = filepath.Join(r.transcriptCopies(), id+"-"+r.Env.Now().UTC().Format("20060102T150405.000")+".jsonl")
		if err := disk.CopyFile(path, aside); err != nil {
			return "", fmt.Errorf("keep the transcript: %w", err)
		}
	} else if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	if err := disk.WriteDurable(path, data, 0o600); err != nil {
		return aside, fmt.Errorf("write the transcript: %w", err)
	}
	r.Log.InfoContext(ctx, "transcript put back", "session_id", id, "path", path, "copy", aside)
	return aside, nil
}

// RestoreLogs writes the stored transcripts of a checkpoint's sessions to where
// the agent looks for them. Those that are there are kept as copies; one that is
// the same stays.
func (r *Recorder) RestoreLogs(ctx context.Context, id checkpoint.ID) ([]Talk, error) {
	v1, err := checkpoint.Tree(ctx, r.Repo)
	if err != nil {
		return nil, err
	}
	stored, err := checkpoint.Read(ctx, r.Repo, v1, id)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", id, err)
	}
	dir := transcript.SessionDir(r.Env.Getenv, r.Env.Home, r.Repo.Root)
	var talks []Talk
	for _, s := range stored.Sessions {
		if session.CheckID(s.Meta.SessionID) != nil {
			continue
		}
		path, err := r.livePath(s.Meta.SessionID, dir)
		if err != nil {
			return talks, err
		}
		talk, err := r.restoreLog(ctx, s, path)
		if err != nil {
			return talks, err
		}
		talks = append(talks, talk)
	}
	return talks, nil
}

// livePath is where a session's transcript belongs: where its state knows it,
// else in the agent's folder.
func (r *Recorder) livePath(id, dir string) (string, error) {
	if s, err := r.Sessions.Load(id); err == nil && s.TranscriptPath != "" {
		return s.TranscriptPath, nil
	}
	path := filepath.Join(dir, id+".jsonl")
	return path, transcript.CheckPath(path, dir)
}

func (r *Recorder) restoreLog(ctx context.Context, s checkpoint.Stored, path string) (Talk, error) {
	talk := Talk{Session: s.Meta.SessionID, Path: path}
	stored, found, err := s.Transcript(ctx, r.Repo)
	if err != nil || !found {
		return talk, err
	}
	var text bytes.Buffer
	if _, err := stored.Copy(ctx, r.Repo, &text); err != nil {
		return talk, err
	}
	data := append(bytes.TrimRight(text.Bytes(), "\n"), '\n')
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, data) {
		return talk, nil
	}
	talk.Changed = true
	talk.Copy, err = r.replaceTranscript(ctx, talk.Session, path, data)
	return talk, err
}
