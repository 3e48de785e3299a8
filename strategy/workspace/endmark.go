package workspace

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// IsTimeout reports whether what failed may succeed with more time.
func IsTimeout(err error) bool {
	return errors.Is(err, disk.ErrLocked) || errors.Is(err, ErrStale) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}
