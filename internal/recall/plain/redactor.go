package plain

import (
	"context"
)

// Redactor redacts what is kept of a transcript.
type Redactor interface {
	Text(s string) string
	// TextContext is Text that ends with ctx, in the middle of a long text too.
	TextContext(ctx context.Context, s string) (string, error)
	Path(path string) string
}

// Forgetter masks what was forgotten in a raw line, of which a text alone doesn't show
// what file it is of. A Redactor may be one.
type Forgetter interface {
	Forget(line []byte) []byte
}
