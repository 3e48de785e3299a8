package plain

import (
	"context"
)

// Redactor removes secrets from texts and paths.
type Redactor interface {
	Text(s string) string
	// TextContext is Text, but returns the error of ctx as soon as ctx is done.
	TextContext(ctx context.Context, s string) (string, error)
	Path(path string) string
}

// Forgetter masks forgotten contents in a raw line. It needs the whole line because a text
// alone doesn't show which file it is from. A Redactor may implement it.
type Forgetter interface {
	Forget(line []byte) []byte
}
