package tracking

import (
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands/capture"
)

func TestWalkTime(t *testing.T) {
	for _, c := range []struct {
		name    string
		walk    time.Duration
		entries int64
		want    time.Duration
	}{
		{"a small tree", 300 * time.Microsecond, 20, 300 * time.Microsecond},
		{"a small tree on a busy machine", 40 * time.Millisecond, 20, time.Millisecond},
		{"a large tree", 300 * time.Millisecond, 80_000, 300 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := walkTime(capture.Taken{Walk: c.walk, Entries: c.entries}); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
