package plan

import (
	"errors"
)

// ErrChanged means that a path isn't what the rescue holds any more.
var ErrChanged = errors.New("changed since it was captured")
