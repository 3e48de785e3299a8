package tracking

import (
	"context"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ForgottenRedactor is a redactor that also masks the texts and files that were
// forgotten.
type ForgottenRedactor struct {
	workspace.Redactor

	Forgotten *checkpoint.Masker
}

// Line masks and redacts a line of a transcript.
func (f ForgottenRedactor) Line(line []byte) []byte { return f.Redactor.Line(f.Forgotten.Mask(line)) }

// LineContext is Line, and returns an error soon after ctx ends.
func (f ForgottenRedactor) LineContext(ctx context.Context, line []byte) ([]byte, error) {
	masked, err := f.Forgotten.MaskContext(ctx, line)
	if err != nil {
		return nil, err
	}
	return f.Redactor.LineContext(ctx, masked)
}

// Text masks and redacts a text.
func (f ForgottenRedactor) Text(s string) string {
	return f.Redactor.Text(string(f.Forgotten.Mask([]byte(s))))
}

// TextContext is Text, and returns an error soon after ctx ends.
func (f ForgottenRedactor) TextContext(ctx context.Context, s string) (string, error) {
	masked, err := f.Forgotten.MaskContext(ctx, []byte(s))
	if err != nil {
		return "", err
	}
	return f.Redactor.TextContext(ctx, string(masked))
}

// Forget masks what was forgotten in a line of a transcript.
func (f ForgottenRedactor) Forget(line []byte) []byte { return f.Forgotten.Mask(line) }

// Path masks and redacts a path.
func (f ForgottenRedactor) Path(path string) string {
	return f.Redactor.Path(string(f.Forgotten.Mask([]byte(path))))
}
