package tracking

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// promptRecord is a line of the side file of prompts.
type promptRecord struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// AddPrompts redacts prompts and adds them to the side file.
func AddPrompts(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, added []transcript.Prompt) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, p := range added {
		text, err := w.RedactText(ctx, p.Text)
		if err != nil {
			return fmt.Errorf("store prompts: %w", err)
		}
		if s.FirstPrompt == "" || transcript.IsBetterTitle(text, s.FirstPrompt) {
			s.FirstPrompt = checkpoint.FirstPrompt(text)
		}
		if t := s.Recorder.TurnAt(p.Line, p.Time); p.Line >= t.Line {
			t.Prompts = append(t.Prompts, text)
		}
		if err := enc.Encode(promptRecord{Line: p.Line, Text: text}); err != nil {
			return fmt.Errorf("store prompts: %w", err)
		}
	}
	s.Recorder.Prompts = n.prompts.Add(s.Recorder.Prompts, b.Bytes())
	return nil
}

// Prompts returns all redacted prompts of the session.
func Prompts(w *workspace.Workspace, s *session.State, n *Pending) ([]string, error) {
	if n.Texts != nil && n.TextsEnd == s.Recorder.Prompts {
		return n.Texts, nil
	}
	data, err := n.prompts.Read(w.Sessions.SideOf(s, session.PromptsKind), s.Recorder.Prompts)
	if err != nil {
		return nil, fmt.Errorf("read prompts: %w", err)
	}
	var texts []string
	for line := range bytes.Lines(data) {
		// Most records have no escapes and need no decoding, which matters as a commit reads
		// all of them.
		number, text, ok := bytes.Cut(line, []byte(`,"text":"`))
		text, whole := bytes.CutSuffix(text, []byte("\"}\n"))
		if ok && whole && bytes.HasPrefix(number, []byte(`{"line":`)) && bytes.IndexByte(text, '\\') < 0 {
			texts = append(texts, string(text))
			continue
		}
		var p promptRecord
		if err := json.Unmarshal(line, &p); err != nil {
			return nil, fmt.Errorf("read prompts: %w: %w", session.ErrCorrupt, err)
		}
		texts = append(texts, p.Text)
	}
	n.Texts, n.TextsEnd = texts, s.Recorder.Prompts
	return texts, nil
}

// RereadPrompts reads the prompts from the transcript again if the side file has lost some.
// Without a transcript it returns none.
func RereadPrompts(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending) ([]string, error) {
	w.Log.WarnContext(ctx, "prompts read again", "session_id", s.ID)
	from, err := w.Sessions.Forgotten(s.ID)
	if err != nil {
		return nil, err
	}
	scan, err := transcript.Read(ctx, s.TranscriptPath, from)
	if err != nil && !errors.Is(err, transcript.ErrNotFound) {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	s.Recorder.Prompts, n.prompts = 0, Tail{}
	s.Renew(session.PromptsKind)
	turn, unclosed := s.Recorder.Turn.Prompts, slices.Clone(s.Recorder.Unclosed)
	err = AddPrompts(ctx, w, s, n, slices.DeleteFunc(scan.Prompts, func(p transcript.Prompt) bool { return p.Line >= s.Recorder.Cursor.Lines }))
	s.Recorder.Turn.Prompts, s.Recorder.Unclosed = turn, unclosed
	if err != nil {
		return nil, err
	}
	return Prompts(w, s, n)
}

// TurnNumbers returns a function that returns the number, from 1, of the session's first
// prompt at a line of the transcript or after it; 0 if there is none.
func TurnNumbers(w *workspace.Workspace, s *session.State, n *Pending) func(line int) int {
	data, err := n.prompts.Read(w.Sessions.SideOf(s, session.PromptsKind), s.Recorder.Prompts)
	var lines []int
	for record := range bytes.Lines(data) {
		var p promptRecord
		if err == nil && json.Unmarshal(record, &p) == nil {
			lines = append(lines, p.Line)
		}
	}
	return func(line int) int {
		return 1 + slices.IndexFunc(lines, func(l int) bool { return l >= line })
	}
}
