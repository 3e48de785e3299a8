package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
)

// Redactor takes secrets out of text before it is written.
type Redactor interface {
	Line(line []byte) []byte
	Text(s string) string
	Path(path string) string
	// These end with ctx, in the middle of a long text too.
	LineContext(ctx context.Context, line []byte) ([]byte, error)
	TextContext(ctx context.Context, s string) (string, error)
}

const (
	// maxKeptText bounds what is kept, beside the transcript, of a prompt or of the last
	// message of a turn.
	maxKeptText = 64 << 10
	// CutMargin is redacted beyond that and not kept, so that a secret at the cut is
	// found. It is longer than a private key.
	CutMargin = 16 << 10
)

// FirstPrompt returns the beginning of a prompt, redacted, in one line.
func (w *Workspace) FirstPrompt(text string) string {
	return checkpoint.FirstPrompt(w.Redact.Text(text[:min(len(text), CutMargin)]))
}

// RedactText returns what is kept of a prompt or message, redacted. It returns an error
// soon after ctx ends.
func (w *Workspace) RedactText(ctx context.Context, text string) (string, error) {
	if len(text) <= maxKeptText {
		return w.Redact.TextContext(ctx, text)
	}
	// What was redacted is shorter or longer; the end of it, which may be the beginning
	// of a secret, is as it was.
	clean, err := w.Redact.TextContext(ctx, text[:min(len(text), maxKeptText+CutMargin)])
	if err != nil {
		return "", err
	}
	end := min(maxKeptText, max(0, len(clean)-CutMargin))
	return strings.ToValidUTF8(clean[:end], "") + "...", nil
}

// Digest returns a short hash of a text without the white space around it.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(text)))
	return hex.EncodeToString(sum[:8])
}

// FirstLine returns the first line of a text without the white space around the text.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
