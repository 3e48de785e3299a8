package authorship

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/checkpoint"
)

func TestRangesOfLines(t *testing.T) {
	t.Parallel()
	if got := writtenRanges([]int{0, 1, 2, 3, 8, 10, 11}); got != "1-4,9,11-12" {
		t.Errorf("got %q", got)
	}
	for hostile, want := range map[string][]int{
		"": nil, "0": nil, "-1": nil, "2-1": nil, "1-": nil, "x": nil, "1-999999999999999999999": nil, "99": nil,
		"1,,": {0}, "0,2,x": {1}, "9-11,10": {9},
	} {
		if diff := cmp.Diff(want, rangeLines(hostile, 10)); diff != "" {
			t.Errorf("%q: %s", hostile, diff)
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

// writtenRanges formats lines as ranges.
func writtenRanges(lines []int) string {
	var r checkpoint.LineRanges
	for _, line := range lines {
		r = r.With(line + 1)
	}
	return r.String()
}
