package authorship

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRangesOfLines(t *testing.T) {
	t.Parallel()
	if got := writtenRanges([]int{0, 1, 2, 3, 8, 10, 11}); got != "1-4,9,11-12" {
		t.Errorf("got %q", got)
	}
	for _, hostile := range []string{"", "0", "-1", "2-1", "1-", "x", "1-999999999999999999999", "99", "1,,"} {
		if got := rangeLines(hostile, 10); len(got) > 1 {
			t.Errorf("%q is %v", hostile, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var lines []int
		for line, in := range rapid.SliceOfN(rapid.Bool(), 0, 50).Draw(t, "lines") {
			if in {
				lines = append(lines, line)
			}
		}
		if diff := cmp.Diff(lines, rangeLines(writtenRanges(lines), 50)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// writtenRanges writes lines as ranges.
func writtenRanges(lines []int) string {
	var r ranges
	for _, line := range lines {
		r = r.with(line)
	}
	return r.String()
}
