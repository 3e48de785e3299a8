package workspace

import (
	"context"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
)

const (
	// maxKeptText bounds what is kept of a prompt, or of what an agent says at the end of a
	// turn, beside the transcript.
	maxKeptText = 64 << 10
	// CutMargin is redacted beyond that and not kept, so that a secret at the cut is
	// found. It is longer than a private key.
	CutMargin = 16 << 10
)

// FirstPrompt is the beginning of a text that was said, redacted, in one line.
func (r *Workspace) FirstPrompt(text string) string {
	return checkpoint.FirstPrompt(r.Redact.Text(text[:min(len(text), CutMargin)]))
}

// RedactText returns what is kept of a text that was said, redacted. It returns an error
// soon after ctx ends.
func (r *Workspace) RedactText(ctx context.Context, text string) (string, error) {
	if len(text) <= maxKeptText {
		return r.Redact.TextContext(ctx, text)
	}
	// What was redacted is shorter or longer; the end of it, which may be the beginning
	// of a secret, is as it was.
	clean, err := r.Redact.TextContext(ctx, text[:min(len(text), maxKeptText+CutMargin)])
	if err != nil {
		return "", err
	}
	end := min(maxKeptText, max(0, len(clean)-CutMargin))
	return strings.ToValidUTF8(clean[:end], "") + "...", nil
}
