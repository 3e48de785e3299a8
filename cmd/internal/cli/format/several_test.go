package format_test

import (
	"testing"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
)

func TestSeveralIgnoresUnknownNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names []string
		want  bool
	}{
		{nil, false},
		{[]string{"", "Ada"}, false},
		{[]string{"Ada", "", "Ada"}, false},
		{[]string{"", "Ada", "Bob"}, true},
	} {
		if got := format.HasSeveral(c.names...); got != c.want {
			t.Errorf("%q: %t", c.names, got)
		}
	}
}
