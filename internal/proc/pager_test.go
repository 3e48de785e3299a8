package proc_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/proc"
)

func TestPager(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 100_000) // more than fits in a pipe
	tests := map[string]struct {
		command string
		shown   bool
		out     string
	}{
		"shows":                     {"tr a-z A-Z", true, strings.ToUpper(long)},
		"with arguments of a shell": {"head -n 1 | cat", true, "line\n"},
		"left before the end":       {"true", true, ""},
		"that fails":                {"exit 1", true, ""},
		"that isn't there":          {"no-such-pager", false, ""},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			shown, err := proc.Pager{Command: c.command, Env: []string{"PATH=/usr/bin:/bin"}, Out: &out, Err: &errs}.Show(strings.NewReader(long))
			if err != nil || shown != c.shown || out.String() != c.out {
				t.Errorf("shown %v, %v, %d bytes", shown, err, out.Len())
			}
		})
	}
}
