package workspace

import (
	"context"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/redact"
)

// Redactor removes secrets from text before it is written.
type Redactor interface { //nolint:interfacebloat // one redactor has them all
	plain.Redactor

	Line(line []byte) []byte
	// LineContext is Line, but returns an error soon after ctx ends, also within a long line.
	LineContext(ctx context.Context, line []byte) ([]byte, error)
	// Known returns a list with the values that are known to be secrets, hashed, behind those of
	// another list. Recall makes the redactor replace the values of such a list.
	Known(list []byte) []byte
	Recall(list []byte)
	// Remembered returns the number of secrets that were found so far and are replaced in later texts.
	Remembered() int
}

// FreshRedactor returns a redactor that replaces what w.Redact does, but none of the secrets that w.Redact
// found in earlier texts.
func (w *Workspace) FreshRedactor() Redactor { //nolint:ireturn // of the kind of w.Redact
	type fresher interface{ Fresh() *redact.Redactor }
	switch r := w.Redact.(type) {
	case ForgottenRedactor:
		if inner, ok := r.Redactor.(fresher); ok {
			r.Redactor = inner.Fresh()
		}
		return r
	case fresher:
		return r.Fresh()
	}
	return w.Redact
}

const (
	// maxKeptText bounds the bytes kept, beside the transcript, of a prompt or of the last
	// message of a turn.
	maxKeptText = 64 << 10
	// CutMargin is the number of bytes that are redacted beyond that and not kept, so that a
	// secret at the cut is found. It is longer than a private key.
	CutMargin = 16 << 10
)

// FirstPrompt returns the beginning of a prompt, redacted, in one line.
func (w *Workspace) FirstPrompt(text string) string {
	return checkpoint.FirstPrompt(w.Redact.Text(text[:min(len(text), CutMargin)]))
}

// RedactText returns the part of a prompt or message that is kept, redacted. It returns an
// error soon after ctx ends.
func (w *Workspace) RedactText(ctx context.Context, text string) (string, error) {
	if len(text) <= maxKeptText {
		return w.Redact.TextContext(ctx, text)
	}
	// Redaction may shorten or lengthen the text. Its end may be the beginning of a secret
	// that was not recognized.
	clean, err := w.Redact.TextContext(ctx, text[:min(len(text), maxKeptText+CutMargin)])
	if err != nil {
		return "", err
	}
	end := min(maxKeptText, max(0, len(clean)-CutMargin))
	return strings.ToValidUTF8(clean[:end], "") + "...", nil
}

// Digest returns a short hash of a text without the white space around it.
func Digest(text string) string {
	return disk.Digest([]byte(strings.TrimSpace(text)))[:16]
}
