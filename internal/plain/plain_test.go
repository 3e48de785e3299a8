package plain_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/plain"
)

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 9, "short"},
		{"two words and more!", 17, "two words and..."},
		{"two words, and more", 14, "two words..."},
		{strings.Repeat("x", 30), 10, "xxxxxxx..."},
		{"äöüäöüäöü", 10, "äöü..."},
		{"<<<<", 15, "<<..."},
	} {
		if got := plain.Shorten(test.text, test.limit); got != test.want {
			t.Errorf("%q to %d: %q", test.text, test.limit, got)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	if got := plain.Clean("a\r\nb\rc\u0085d\u2028e\u2029f\vg\fh"); got != "a\nb\nc\nd\ne\nf\ng\nh" {
		t.Errorf("%q", got)
	}
	if got := plain.Clean("  a\x1b[31mb\u202ec\u200b\n\td\xff\r\n "); got != "a[31mbc\n\td\uFFFD" {
		t.Errorf("%q", got)
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("go test ./... | tail -5")
	f.Fuzz(func(t *testing.T, text string) {
		const limit = 50
		short := plain.Shorten(plain.Clean(text), limit)
		stored, err := json.Marshal(short)
		if err != nil || len(stored) > limit+2 || !utf8.ValidString(short) || len(stored)-2 > plain.JSONSize(short) {
			t.Errorf("%q: %d bytes, %v", short, len(stored), err)
		}
	})
}

type masking struct{}

func (masking) Text(s string) string { return strings.ReplaceAll(s, "secret", "REDACTED") }
func (masking) Path(s string) string { return s }

func (m masking) TextContext(_ context.Context, s string) (string, error) { return m.Text(s), nil }

// A secret at the position of the cut is redacted before the text is cut.
func TestTextRedactsBeforeItCuts(t *testing.T) {
	t.Parallel()
	const text = "one\x1b[0m\n  a secret  here"
	if got := plain.Text(text, 16, masking{}); got != "one[0m\n  a..." {
		t.Errorf("text: %q", got)
	}
	if got := plain.Line(text, 40, masking{}); got != "one[0m a REDACTED here" {
		t.Errorf("line: %q", got)
	}
	if got := plain.Line(strings.Repeat("x", plain.MaxScanned-3)+" secret", 2*plain.MaxScanned, masking{}); strings.HasSuffix(got, "secret") {
		t.Error("more was scanned than MaxScanned")
	}
}

func TestBoundedLists(t *testing.T) {
	t.Parallel()
	bound := plain.Bound{Items: 3, Bytes: 18}
	var list []string
	for _, item := range []string{"a", "b", "c", "a", "d"} {
		list = plain.Append(list, item, bound)
	}
	if got := strings.Join(list, " "); got != "c a d" {
		t.Errorf("by items: %q", got)
	}
	if got := plain.Append(list, "<<", bound); strings.Join(got, " ") != "<<" {
		t.Errorf("by bytes, of which a < takes six: %q", got)
	}
	if !plain.Within([]string{"a", "b"}, bound, plain.JSONSize) || plain.Within([]string{"a", "b", "c", "d"}, bound, plain.JSONSize) {
		t.Error("four items are within a bound of three")
	}
	if n := plain.JSONSize("a\"\n\x01<é"); n != 1+2+2+6+6+2 {
		t.Errorf("size %d", n)
	}
}

// A text that isn't UTF-8 is cut by bytes.
func TestShortenInvalid(t *testing.T) {
	t.Parallel()
	const limit = 600
	if got := plain.Shorten(strings.Repeat("\xc5", limit), limit); plain.JSONSize(got) > limit || !strings.HasSuffix(got, plain.Ellipsis) {
		t.Errorf("%q", got)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 hooks", 1: "1 hook", 2: "2 hooks"} {
		if got := plain.Plural(n, "hook"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	for text, want := range map[string]string{"": "", "\ta b \n c": "a b ", "\n\na\r\nb": "a\r", "a": "a"} {
		if got := plain.FirstLine(text); got != want {
			t.Errorf("the first line of %q is %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]bool{"": true, "0123456789abcdef": true, "A": false, "0g": false, "0\n": false} {
		if plain.IsHex(text) != want {
			t.Errorf("%q", text)
		}
	}
}
