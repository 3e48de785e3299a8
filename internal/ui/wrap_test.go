package ui_test

import (
	"testing"

	"github.com/seed-3aff656d/entire/internal/ui"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "",
		"short\n":                     "short\n",
		"one two three four":          "one two\nthree four",
		"  one two three\nnext":       "  one two\n  three\nnext",
		"a averyverylongword b":       "a\naveryverylongword\nb",
		"\x1b[1mone\x1b[0m two three": "\x1b[1mone\x1b[0m two\nthree",
		"\u00fc\u00fc\u00fc \u00fc\u00fc\u00fc x y": "\u00fc\u00fc\u00fc \u00fc\u00fc\u00fc x\ny",
	} {
		if got := ui.Wrap(text, 10); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
