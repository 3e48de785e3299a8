package plain

import (
	"context"
)

// Redactor removes secrets from texts and paths.
type Redactor interface {
	Text(s string) string
	// TextContext is Text, and returns the error of ctx as soon as that is done.
	TextContext(ctx context.Context, s string) (string, error)
	Path(path string) string
}

// Forgetter masks what was forgotten in a raw line, of which a text alone doesn't show
// what file it is of. A Redactor may be one.
type Forgetter interface {
	Forget(line []byte) []byte
}
