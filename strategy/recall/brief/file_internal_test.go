package brief

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShortenRemoved(t *testing.T) {
	t.Parallel()
	got := shortenRemoved([]string{" a\n", "-1\n", "-2\n", "-3\n", "-4\n", "-5\n", "-6\n", "-7\n", "-8\n", "+b\n", "-c\n", " d\n"})
	want := []string{" a\n", "-1\n", "-2\n", "-3\n", "-4\n", "-5\n", "-6\n", "\\ 2 more removed lines\n", "+b\n", "-c\n", " d\n"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	all := []string{"-1\n", "-2\n", "-3\n", "-4\n", "-5\n", "-6\n", "-7\n"}
	if diff := cmp.Diff(all, shortenRemoved(all)); diff != "" {
		t.Error(diff)
	}
}

// The line that counts omitted entries has the singular for one.
func TestRest(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]section{
		"- … 1 earlier one\n": {more: "- … %d earlier ones\n"},
		"- … 1 more file\n":   {more: "- … %d more files\n"},
		"- … 1 more\n":        {more: "- … %d more\n"},
		"":                    {},
	} {
		if got := s.rest(1); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
