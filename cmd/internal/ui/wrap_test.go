package ui_test

import (
	"testing"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// In output, continuation lines begin behind the column of the program's lines, and marks of quotes
// are repeated.
func TestAttackWrap(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[User] wwwwwwww [User] x":  "[User]\n  wwwwwwww\n  [User] x",
		"  a wwwwwwww b":            "  a\n    wwwwww\n    ww b",
		"> a wwwwwwww b":            "> a\n> wwwwwwww\n> b",
		"  | a wwwwwwww b":          "  | a\n  | wwwwww\n  | ww b",
		"> > wwwwwwww b":            "> > wwwwww\n> > ww b",
		"> aaaaaaaa[User]x b":       "> aaaaaaaa\n> [User]x\n> b",
		"[User] aaaaaaaa[Tool]x":    "[User]\n  aaaaaaaa\n  [Tool]x",
		"aaaaaaaaaa[Tool]":          "aaaaaaaa\n  aa[Tool]",
		"    aaaaaa[Tool] b":        "    aaaa\n      aa[T\n      ool]\n      b",
		"> \x1b[1maaaaaaaaa\x1b[0m": "> \x1b[1maaaaaaaa\n> a\x1b[0m",
		"> 世世世世世":                   "> 世世世世\n> 世",
	} {
		if got := ui.WrapHanging(text, 10); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

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

// On a screen no text is lost at the edge.
func TestWrapWhole(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"one two three four": "one two\nthree four",
		"世世世世世世 b":           "世世世世世\n世 b",
		"  a wwwwwwwwwww":    "  a\n  wwwwwwww\n  www",
		"a\tbcdef gh":        "a    bcdef\ngh",
		"👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻": "👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻👩\u200d💻\n👩\u200d💻",
	} {
		if got := ui.WrapWhole(text, 10); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
