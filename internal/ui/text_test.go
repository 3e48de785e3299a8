package ui_test

import (
	"bytes"
	"testing"

	"github.com/seed-3aff656d/entire/internal/ui"
)

func TestTextRemovesControlCharacters(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"a\n\tb\r\n":                 "a\n\tb\n",
		"\x1b[2J\x1b]0;title\x07x":   "[2J]0;titlex",
		"\u009b31m":                  "31m",
		"right\u202eto left\u2066":   "rightto left",
		"no\u00a0break, em\u2003dot": "no break, em dot",
		"Grüße, 世界 🙂":                "Grüße, 世界 🙂",
		"a\u2028b\u2029c\u0085d":     "a b c d",
		"10%\r20%\vx\fy\r":           "10% 20% x y ",
		"bell\a, back\b, \x00":       "bell, back, ",
	}
	for text, want := range tests {
		if got := ui.Text(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestFitsWithoutTerminal(t *testing.T) {
	t.Parallel()
	if s := (ui.Streams{Out: &bytes.Buffer{}, Terminal: ui.Terminal{Out: true}}); !s.Fits(string(make([]byte, 1<<20))) {
		t.Error("a buffer is no screen")
	}
}
