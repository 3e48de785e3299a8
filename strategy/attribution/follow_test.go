package attribution_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// TestFollow checks which line of an earlier content each line corresponds to.
func TestFollow(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, was, now string
		want           []int
	}{
		{"the same", "a b c", "a b c", []int{0, 1, 2}},
		{"lines before", "a b", "x y a b", []int{-1, -1, 0, 1}},
		{"lines gone", "a b c d", "a d", []int{0, 3}},
		{"one changed", "a b c", "a B c", []int{0, -1, 2}},
		{"one indented", "a b c", "a \tb c", []int{0, 1, 2}},
		{"nothing in common", "a", "b", []int{-1}},
		{"from nothing", "", "a b", []int{-1, -1}},
		{"to nothing", "a", "", []int{}},
	}
	for _, c := range cases {
		if diff := cmp.Diff(c.want, attribution.Follow(lines(c.was), lines(c.now))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// lines replaces each space of words by a newline, so that lines keep other leading white
// space.
func lines(words string) []byte {
	if words == "" {
		return nil
	}
	return []byte(strings.ReplaceAll(words, " ", "\n") + "\n")
}
