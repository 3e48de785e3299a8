package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/testkit/secretkinds"
)

func percentAll(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{s[i]})))
	}
	return b.String()
}

// encodings are the ways to encode a text.
var encodings = map[string]func(string) string{
	"base64":      func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 url":  func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"hex":         func(s string) string { return hex.EncodeToString([]byte(s)) },
	"percent":     func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") },
	"all percent": percentAll,
	"twice":       func(s string) string { return base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString([]byte(s)))) },
}

// TestAttackEncoded checks that secrets in an encoded text are replaced.
func TestAttackEncoded(t *testing.T) {
	t.Parallel()
	r := redact.New()
	m := secretkinds.New(3, 7)
	n := tries(20)
	for name, encode := range encodings {
		for range n {
			token := "gh" + "p_" + m.Of(alnums, 36)
			password := m.Of(alnums, 20)
			for _, text := range []string{token, "export DB_PASSWORD=" + password + " # x", "see https://u:" + password + "@host/ and " + token} {
				encoded := encode(text)
				line, err := json.Marshal(map[string]any{"stdout": strings.Repeat("some text before it\n", m.IntN(40)) + "data: " + encoded + "\nafter"})
				if err != nil {
					t.Fatal(err)
				}
				got := string(r.Line(line))
				if strings.Contains(got, encoded) || !json.Valid([]byte(got)) {
					t.Errorf("%s: %q is left in %s", name, text, got)
				}
				if !strings.Contains(got, `\nafter`) || !strings.Contains(got, "data: ") {
					t.Errorf("%s: more than the encoded text is gone: %s", name, got)
				}
			}
		}
	}
}

func TestEncodedOrdinaryText(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for name, encode := range encodings {
		text := "data: " + encode("an ordinary sentence about a key and a token, 100 % of it") + "\n"
		if got := r.Text(text); got != text {
			t.Errorf("%s: Text(%q) = %q", name, text, got)
		}
	}
	if text := "https://host/a%20b/%E2%9C%93?q=100%25"; r.Text(text) != text {
		t.Errorf("Text(%q) = %q", text, r.Text(text))
	}
}
