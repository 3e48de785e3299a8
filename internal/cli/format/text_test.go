package format

import (
	"testing"
	"time"
)

func TestShortSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0B", 1023: "1023B", 1024: "1K", 1536: "1.5K", 10240: "10K", 1<<20 - 1: "1M", 50 << 30: "50G", 3 << 29: "1.5G", 20 << 40: "20T",
	} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestTook(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		19 * time.Millisecond: "19ms", 9999 * time.Millisecond: "9999ms", 12345 * time.Millisecond: "12.3s",
	} {
		if got := Took(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
