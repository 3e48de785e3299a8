package tracking

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// maskNow bounds the bytes of stored transcript that a hook searches for values that became known
	// since. A longer transcript is stored again by a child.
	maskNow = 2 << 20
	// maskRounds bounds the searches, each of which may reveal more values.
	maskRounds = 3
)

// StoreMasked is StoreTranscript, MaskStored and MaskTexts: no record of the session, as a checkpoint
// would have it, has a value that is known to be a secret by now.
func StoreMasked(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, budget int64) (complete bool, err error) {
	stored, err := StoreTranscript(ctx, w, s, budget)
	if err != nil {
		return false, err
	}
	masked, err := MaskStored(ctx, w, s, budget)
	if err != nil {
		return false, err
	}
	return stored && masked, MaskTexts(ctx, w, s, n)
}

// MaskStored replaces the values that became known to be secrets after parts of the transcript, or
// of those of subagents, were stored. It does nothing if there are none. With a budget, most of a
// long transcript is left out until a child has stored it again; the result is false then.
func MaskStored(ctx context.Context, w *workspace.Workspace, s *session.State, budget int64) (complete bool, err error) {
	rec := &s.Recorder
	rec.Known = w.Redact.Known(rec.Known)
	complete = true
	for round := 0; round < maskRounds && rec.Stored.Masked < len(rec.Known); round++ {
		if err := maskTasks(ctx, w, rec.Tasks); err != nil {
			return false, err
		}
		info, err := os.Lstat(s.TranscriptPath)
		again := err == nil && info.Mode().IsRegular() && budget > 0 && rec.Stored.Raw > maskNow
		if !again {
			next, err := Segmenter(w, s).Mask(ctx, rec.Stored, s.UnsavedSegments())
			again = errors.Is(err, checkpoint.ErrTranscriptLost)
			if err != nil && !again {
				return false, err
			}
			rec.Stored = next
		}
		rec.Stored.Masked = len(rec.Known)
		if again {
			rec.Stored = session.Segments{Second: s.UnsavedSegments()}
			if complete, err = StoreTranscript(ctx, w, s, budget); err != nil {
				return false, err
			}
		}
		rec.Known = w.Redact.Known(rec.Known)
	}
	return complete, nil
}

// maskTasks redacts the stored transcripts of subagents again. Those that no longer exist are left
// out by the checkpoint, too.
func maskTasks(ctx context.Context, w *workspace.Workspace, tasks []session.Task) error {
	for i := range tasks {
		for k, id := range tasks[i].Stored {
			text, err := checkpoint.ReadBlob(ctx, w.Repo, git.OID(id))
			if errors.Is(err, git.ErrMissing) {
				continue
			}
			if err != nil {
				return fmt.Errorf("read transcript of a subagent: %w", err)
			}
			clean, err := checkpoint.MaskLines(ctx, w.Redact, text)
			if err != nil {
				return fmt.Errorf("mask transcript of a subagent: %w", err)
			}
			if bytes.Equal(clean, text) {
				continue
			}
			oid, err := checkpoint.WriteBlob(w.Repo, clean)
			if err != nil {
				return fmt.Errorf("mask transcript of a subagent: %w", err)
			}
			tasks[i].Stored[k] = string(oid)
		}
	}
	return nil
}

// MaskTexts replaces the values that became known to be secrets after texts of the state and prompts
// were recorded. It does nothing if there are none.
func MaskTexts(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending) error {
	rec := &s.Recorder
	if rec.Masked >= len(rec.Known) {
		return nil
	}
	texts := []*string{&s.FirstPrompt, &rec.Due.Subject}
	for _, t := range rec.Turns() {
		texts = append(texts, &t.Summary)
		for i := range t.Prompts {
			texts = append(texts, &t.Prompts[i])
		}
	}
	for i := range rec.Tasks {
		texts = append(texts, &rec.Tasks[i].Type, &rec.Tasks[i].Description)
	}
	for _, text := range texts {
		clean, err := w.Redact.TextContext(ctx, *text)
		if err != nil {
			return fmt.Errorf("mask texts: %w", err)
		}
		*text = clean
	}
	if err := maskPrompts(ctx, w, s, n); err != nil {
		return err
	}
	rec.Masked = len(rec.Known)
	return nil
}

// maskPrompts redacts the prompts in the side file again. If that changes any, all of them go into
// another side file.
func maskPrompts(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending) error {
	data, err := n.prompts.Read(w.Sessions.SideOf(s, session.PromptsKind), s.Recorder.Prompts)
	if err != nil {
		return nil // they are read from the transcript again when they are needed
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	changed := false
	for line := range bytes.Lines(data) {
		var p promptRecord
		if json.Unmarshal(line, &p) != nil {
			return nil // the same
		}
		clean, err := w.Redact.TextContext(ctx, p.Text)
		if err != nil {
			return fmt.Errorf("mask prompts: %w", err)
		}
		changed = changed || clean != p.Text
		p.Text = clean
		if err := enc.Encode(p); err != nil {
			return fmt.Errorf("mask prompts: %w", err)
		}
	}
	if !changed {
		return nil
	}
	s.Renew(session.PromptsKind)
	n.prompts, n.Texts = Tail{}, nil
	s.Recorder.Prompts = n.prompts.Add(0, b.Bytes())
	n.Masked = true
	return nil
}
