package redact_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/redact"
)

func FuzzLine(f *testing.F) {
	token := githubToken()
	for _, s := range []string{
		"", "{}", `{"a":"` + token + `"}`, `{"a":"` + escapeAll(token) + `"}`, `{"a":"\ud83d\ude00\ud800"}`,
		`{"a":"api_key = \"` + genericValue() + `\""}`, `{"a":"x` + "\n", `[1,2.5e7,true,null,"\/"]`, `{"a":"` + token,
		`{"a":"` + strings.ReplaceAll(privateKey(), "\n", `\n`) + `"}`, "curl -u a:" + genericValue(),
	} {
		f.Add([]byte(s))
	}
	r := redact.New()
	f.Fuzz(func(t *testing.T, line []byte) {
		before := bytes.Clone(line)
		got := r.Line(line)
		if !bytes.Equal(before, line) {
			t.Fatal("Line wrote to its argument")
		}
		if json.Valid(line) && !json.Valid(got) {
			t.Errorf("no longer valid JSON: %q from %q", got, line)
		}
		if bytes.Count(got, []byte("\n")) > bytes.Count(line, []byte("\n")) {
			t.Errorf("a line break more: %q from %q", got, line)
		}
		if again := r.Line(got); !bytes.Equal(again, got) {
			t.Errorf("a second time: %q, first %q", again, got)
		}
		planted(t, r, string(line), token)
	})
}

// planted checks that a secret in a string is found after any text.
func planted(t *testing.T, r *redact.Redactor, text, token string) {
	t.Helper()
	line, err := json.Marshal(map[string]any{"text": text + "\n" + token + "\n", "id": []string{token}})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Line(line)
	if !json.Valid(got) || bytes.Contains(got, []byte(token)) {
		t.Errorf("planted secret is left: %q", got)
	}
}

func FuzzText(f *testing.F) {
	f.Add("password: " + genericValue())
	f.Add(githubToken())
	r := redact.New()
	f.Fuzz(func(t *testing.T, text string) {
		got := r.Text(text)
		if again := r.Text(got); again != got {
			t.Errorf("a second time: %q, first %q", again, got)
		}
		_ = r.Path(text)
	})
}
