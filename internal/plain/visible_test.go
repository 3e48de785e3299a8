package plain_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/seed-3aff656d/entire/internal/plain"
)

func TestAttackText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "",
		"a\tb\nc é 世 \u200d":                   "a\tb\nc é 世 \u200d",
		"a\x1b]0;t\x07\rb\r\n\x00\x7f\u009b":   `a\u001b]0;t\u0007\u000db` + "\n" + `\u0000\u007f\u009b`,
		"\u202e\u2066\u200f\u061c\u2028\u2060": `\u202e\u2066\u200f\u061c\u2028\u2060`,
		"\ufeff\u200b\u00ad\U000e0041":         `\ufeff\u200b\u00ad\udb40\udc41`,
		"\x9b \xff":                            `\x9b \xff`,
		"\r":                                   `\u000d`,
	} {
		got := plain.Visible(text)
		if got != want || plain.Visible(got) != got {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAttackProse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a\n\tb\r\n":                 "a\n\tb\n",
		"no\u00a0break, em\u2003dot": "no break, em dot",
		"a\u2028b\u2029c\u0085d":     "a b c d",
		"10%\r20%\vx\fy\r":           "10% 20% x y ",
		"bell\a, \u202e":             `bell\u0007, \u202e`,
	} {
		if got := plain.Prose(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := plain.Quote("a\n[User] b\n", "  "); got != "a\n  > [User] b\n  > " {
		t.Errorf("%q", got)
	}
}

// JSON with escapes is valid, has the same value, and has only visible characters.
func FuzzJSON(f *testing.F) {
	f.Add("a\x1b\u009b\u202e\U000e0041\u200d\u2028\n\x7f")
	f.Fuzz(func(t *testing.T, text string) {
		var in any = map[string]any{text: []any{text}}
		bare, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal(bare, &want); err != nil {
			t.Fatal(err)
		}
		shown := plain.JSON(bare)
		if err := json.Unmarshal(shown, &got); err != nil {
			t.Fatalf("%q: %v", shown, err)
		}
		if again, err := json.Marshal(got); err != nil || !bytes.Equal(again, mustMarshal(t, want)) {
			t.Errorf("%q has another value than %q", shown, bare)
		}
		if bytes.ContainsFunc(shown, plain.IsHidden) {
			t.Errorf("%q", shown)
		}
	})
}

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
