package savedcontext

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/recall/digest"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// contextRecord is the record of a session's context between two hooks, in the side file of kind
// recall. It can be rebuilt: from the transcript, the files in the worktree and the refs of
// the checkpoints.
type contextRecord struct {
	header
	body
}

// body is the second line of a context record's file, read only to update the context record.
type body struct {
	// Base is the commit that was checked out when the session was seen first.
	Base   string        `json:"base,omitempty"`
	Digest digest.Digest `json:"digest"`
	// Asked reports whether the session ever had a prompt.
	Asked bool `json:"asked,omitempty"`
	// Files are the files that the session changed, as last captured.
	Files pathMap[contextstore.Captured] `json:"files,omitempty"`
	// Said is the agent's last message at the last stop, redacted.
	Said string `json:"said,omitempty"`
	// Masked is the length of the part of [session.Recorder.Known] whose values are replaced in
	// Digest and Said.
	Masked int `json:"masked,omitempty"`
	// Last is the newest checkpoint that was saved, Kept the newest that is kept.
	Last *fingerprint `json:"last,omitempty"`
	Kept *fingerprint `json:"kept,omitempty"`
	// Before is the value of Kept before the end.
	Before *fingerprint `json:"before,omitempty"`
	// Saving is a checkpoint that is being written: after a crash it may or may
	// not exist.
	Saving *fingerprint `json:"saving,omitempty"`
	// Unfinished is a checkpoint that a child has to complete.
	Unfinished string `json:"unfinished,omitempty"`
	// Compacted is when the context was compacted last.
	Compacted time.Time `json:"compacted,omitzero"`
	// Full reports that the context was nearly full and the user was notified.
	Full bool `json:"full,omitempty"`
	// Improved is the checkpoint that a model was last asked to improve.
	Improved string `json:"improved,omitempty"`
}

// header is the first line of a context record's file: where and when the session ran, and how it
// ended.
type header struct {
	Worktree string `json:"worktree"`
	// Agent is the process that the session ran in last.
	Agent session.Process `json:"agent,omitzero"`
	// Seen is when a hook of the session last ran.
	Seen time.Time `json:"seen"`
	// SeenBefore is when the previous hook ran.
	SeenBefore time.Time `json:"seen_before,omitzero"`
	// End is how the session ended; nil while it continues, and if no hook reported its end.
	End *sessionEnd `json:"end,omitempty"`
}

// sessionEnd is how a session ended.
type sessionEnd struct {
	Cause recall.Cause `json:"cause"`
	At    time.Time    `json:"at"`
	// Prompt is the id of the prompt that ended the session, if any.
	Prompt string `json:"prompt,omitempty"`
	// ID is the checkpoint of the session at its end, and Status that checkpoint's
	// status; empty if there is none.
	ID      string        `json:"id,omitempty"`
	Status  recall.Status `json:"status,omitempty"`
	Summary string        `json:"summary,omitempty"`
	// Fresh reports that the checkpoint was saved for this end; otherwise an earlier one was
	// still current.
	Fresh bool `json:"fresh,omitempty"`
	// Next is the session that came after a clear.
	Next string `json:"next,omitempty"`
	// Ask reports whether the user was to be asked, Answer is the reply.
	Ask    bool        `json:"ask,omitempty"`
	Answer ClearAnswer `json:"answer,omitempty"`
}

// maxRemembered bounds the files in the context record of a session, maxOutlines the total bytes of
// their outlines.
const (
	maxRemembered = 500
	maxOutlines   = 64 << 10
)

// remembered returns the context record of the session id and its file's bytes; a new
// context record if there is none, or if it can't be decoded.
func remembered(ctx context.Context, w *workspace.Workspace, id string) (*contextRecord, []byte, error) {
	data, err := w.Sessions.Side(id, session.RecallKind).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("read the context record of session %s: %w", id, err)
	}
	m := new(contextRecord)
	if len(data) == 0 {
		return m, data, nil
	}
	first, second, _ := bytes.Cut(data, []byte{'\n'})
	if err := errors.Join(json.Unmarshal(first, &m.header), json.Unmarshal(second, &m.body)); err != nil {
		w.Log.WarnContext(ctx, "context of a session read again", "session_id", id, "error", err.Error())
		m = new(contextRecord)
	}
	return m, data, nil
}

// putContextRecord writes the context record if it changed, without outlines beyond maxOutlines: a line of JSON
// with the header and one with the body, so that a search for a session reads only the headers.
// The caller must hold the lock.
func putContextRecord(w *workspace.Workspace, id string, m *contextRecord, before []byte) ([]byte, error) {
	size := 0
	for path, f := range m.Files {
		for _, d := range f.Outline {
			size += len(d.Text)
		}
		if size > maxOutlines && len(f.Outline) > 0 {
			f.Outline = nil
			m.Files[path] = f
		}
	}
	first, err := json.Marshal(m.header)
	second, failed := json.Marshal(m.body)
	if err = cmp.Or(err, failed); err != nil {
		return before, fmt.Errorf("encode the context record of session %s: %w", id, err)
	}
	data := slices.Concat(first, []byte{'\n'}, second, []byte{'\n'})
	if bytes.Equal(data, before) {
		return before, nil
	}
	if err := w.Sessions.Side(id, session.RecallKind).Replace(data); err != nil {
		return before, fmt.Errorf("write the context record of session %s: %w", id, err)
	}
	return data, nil
}

// contextReader brings a session's context record up to date with the transcript and the worktree.
type contextReader struct {
	w   *workspace.Workspace
	s   *session.State
	m   *contextRecord
	obs observation
}

// contextComparer compares the context with the checkpoints recorded in the context record, and keeps
// that record up to date.
type contextComparer struct {
	contextReader

	// recovered reports that the last checkpoint was found after the hook that
	// saved it was stopped.
	recovered bool
}

// contextWriter saves checkpoints of one session's context and writes its context record.
// It is the working state of one recollect.
type contextWriter struct {
	contextComparer

	// before are the bytes of the context record's file.
	before []byte
}

// recollect brings the context record of a session up to date, calls then while it holds the lock, and
// writes the context record. If another hook wrote it meanwhile, it starts again from the new one. The
// error wraps session.ErrNotFound if the session has no state.
func recollect(ctx context.Context, w *workspace.Workspace, id string, how effort, then func(context.Context, *contextWriter) error) error {
	if err := w.CheckTombstones(); err != nil {
		return err
	}
	return w.Retry(func() error { return recollectOnce(ctx, w, id, how, then) })
}

func recollectOnce(ctx context.Context, w *workspace.Workspace, id string, how effort, then func(context.Context, *contextWriter) error) error {
	redactions := w.Redactions()
	s, err := w.Sessions.Load(id)
	if err != nil {
		return err
	}
	cw := &contextWriter{contextComparer: contextComparer{contextReader: contextReader{w: w, s: s}}}
	if cw.m, cw.before, err = remembered(ctx, w, id); err != nil {
		return err
	}
	if err := cw.mask(); err != nil {
		return err
	}
	defer cw.settlePlace(ctx)()
	if err := cw.observe(ctx, how); err != nil {
		return err
	}
	return w.WithLock(ctx, func() error {
		now, err := w.Sessions.Side(id, session.RecallKind).ReadAll()
		if err != nil {
			return err
		}
		if !bytes.Equal(now, cw.before) || w.Redactions() != redactions {
			return workspace.ErrStale
		}
		if w.Sessions.Stamp(id) == "" {
			return session.ErrNotFound // removed meanwhile: don't write its file again
		}
		err = cw.settleSaving(ctx)
		if err == nil {
			err = then(ctx, cw)
		}
		return errors.Join(err, cw.write())
	})
}

// mask replaces the values that became known to be secrets after the context record was written.
func (cr *contextReader) mask() error {
	known := cr.s.Recorder.Known
	cr.w.Redact.Recall(known)
	if cr.m.Masked >= len(known) {
		return nil
	}
	data, err := json.Marshal(cr.m.Digest)
	if err != nil {
		return fmt.Errorf("mask the context record of session %s: %w", cr.s.ID, err)
	}
	var clean digest.Digest
	if err := json.Unmarshal(cr.w.Redact.Line(data), &clean); err != nil {
		return fmt.Errorf("mask the context record of session %s: %w", cr.s.ID, err)
	}
	cr.m.Digest, cr.m.Said, cr.m.Masked = clean, cr.w.Redact.Text(cr.m.Said), len(known)
	return nil
}

// settlePlace switches to the worktree of the context record. The files of a session that moved to
// another worktree are captured anew.
func (cr *contextReader) settlePlace(ctx context.Context) (done func()) {
	done = func() {}
	if cr.m.Worktree == "" || cr.m.Worktree == cr.w.Repo.Root {
		return done
	}
	if !cr.w.OwnsSession(cr.s) {
		repo, err := git.Discover(git.Locate{Dir: cr.m.Worktree, Getenv: cr.w.Env.Getenv})
		if err == nil && repo.CommonDir == cr.w.Repo.CommonDir && repo.Root == cr.m.Worktree {
			cr.w = cr.w.At(repo)
			return func() { _ = repo.Close() }
		}
		cr.w.Log.InfoContext(ctx, "the session's worktree is gone", "session_id", cr.s.ID, "path", cr.m.Worktree)
	}
	cr.m.Worktree, cr.m.Files = "", nil
	return done
}

// write writes the context record's file if it changed.
func (w *contextWriter) write() (err error) {
	w.before, err = putContextRecord(w.w, w.s.ID, w.m, w.before)
	return err
}
