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
