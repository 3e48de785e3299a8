package sqlite

import (
	"context"
	"time"
)

// CaptureInPlace is Capture without private copies.
func CaptureInPlace(ctx context.Context, dir, main string, patience time.Duration, take Take) error {
	return capturer{limit: -1}.run(ctx, Place{Dir: dir, Main: main}, patience, take)
}
