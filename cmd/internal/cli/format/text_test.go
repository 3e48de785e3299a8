package format

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestUniqueSessions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ ids, want []string }{
		"short":     {[]string{"7124b161-4779", "8124b161-4779"}, []string{"7124b16", "8124b16"}},
		"longer":    {[]string{"run-20-a1b2", "7124b161-4779", "run-21-c3d4", "x"}, []string{"run-20-", "7124b16", "run-21-", "x"}},
		"alike":     {[]string{"a-long-name-1-x", "b-long-name", "a-long-name-2", "a-long-other"}, []string{"a-long-name-1", "b-long-", "a-long-name-2", "a-long-o"}},
		"beginning": {[]string{"abcdefg", "abcdefgh"}, []string{"abcdefg", "abcdefgh"}},
		"equal":     {[]string{"abc", "abc"}, []string{"abc", "abc"}},
		"none":      {[]string{}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(test.want, UniqueSessions(test.ids)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

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
