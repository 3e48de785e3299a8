package linediff_test

import (
	"testing"

	"github.com/seed-3aff656d/entire/internal/linediff"
)

func TestLetters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, " \t{};\n": 0, "if x == 12 {": 5, "größe ": 5, "\xff": 0} {
		if got := linediff.Letters(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
