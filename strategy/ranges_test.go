package strategy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/strategy"
)

func TestRangesOfLines(t *testing.T) {
	t.Parallel()
	if got := strategy.Ranges([]int{0, 1, 2, 3, 8, 10, 11}); got != "1-4,9,11-12" {
		t.Errorf("got %q", got)
	}
	for _, hostile := range []string{"", "0", "-1", "2-1", "1-", "x", "1-999999999999999999999", "99", "1,,"} {
		if got := strategy.RangeLines(hostile, 10); len(got) > 1 {
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
		if diff := cmp.Diff(lines, strategy.RangeLines(strategy.Ranges(lines), 50)); diff != "" {
			t.Fatal(diff)
		}
	})
}
