package workspace

import (
	"errors"
)

// MaxAttempts is how often a step is made again after another hook of the same
// session was faster.
const MaxAttempts = 5

// ErrStale means that a state was saved by another hook since it was loaded.
var ErrStale = errors.New("session state changed meanwhile")
