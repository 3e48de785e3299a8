package redact_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/redact"
)

// Secrets are assembled here, so that the source contains none.
const random36 = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"

func githubToken() string { return "gh" + "p_" + random36 }

func awsKey() string { return "AK" + "IA" + "Q3EGRZ7XKPWN2TLM" }

func genericValue() string { return "x8Kd93jfL" + "2mQpR71vTz" }

func privateKey() string {
	body := strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n", 3)
	return "-----BEGIN " + "PRIVATE KEY-----\n" + body + "-----END " + "PRIVATE KEY-----"
}

func jsonWebToken() string {
	return "ey" + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
}

func TestText(t *testing.T) {
	t.Parallel()
	token, value := githubToken(), genericValue()
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"nothing", "an ordinary sentence about a key and a token", "an ordinary sentence about a key and a token"},
		{"token", "use " + token + " here", "use REDACTED here"},
		{"aws", "id: " + awsKey() + "\n", "id: REDACTED\n"},
		{"assignment", `api_key = "` + value + `"`, `api_key = "REDACTED"`},
		{"everywhere", "password: " + value + "\ncurl https://host/" + value, "password: REDACTED\ncurl https://host/REDACTED"},
		{"private key", "before\n" + privateKey() + "\nafter", "before\nREDACTED\nafter"},
		{"web token", "Bearer " + jsonWebToken() + "\n", "Bearer REDACTED\n"},
		{"curl", "curl -u user:Q" + value + " https://host", "curl -u REDACTED https://host"},
		{"two", token + " " + awsKey(), "REDACTED REDACTED"},
		{"low entropy", "api_key = aaaaaaaaaaaa1", "api_key = aaaaaaaaaaaa1"},
		{"stopword", "api_key = " + value + "example", "api_key = " + value + "example"},
		{"placeholder", "api_key = ${API_KEY}", "api_key = ${API_KEY}"},
		{"git hash", "commit 3f786850e387550fdab836ed7e6dc881de23001b", "commit 3f786850e387550fdab836ed7e6dc881de23001b"},
		{"allow comment", "token " + token + " # gitleaks:allow", "token REDACTED # gitleaks:allow"},
		{"allow comment lines above", "gitleaks:allow\n\n" + token, "gitleaks:allow\n\nREDACTED"},
		{"kelvin sign", "api_\u212aey = \"" + value + "\"", "api_\u212aey = \"REDACTED\""},
		{"keyword by lower case", "ap\u0130 " + token, "ap\u0130 REDACTED"},
		{"invalid UTF-8", "\xff\xfe " + token + " \xff", "\xff\xfe REDACTED \xff"},
	}
	r := redact.New()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := r.Text(tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Text (-want +got):\n%s", diff)
			}
			if again := r.Text(got); again != got {
				t.Errorf("a second time: %q, want %q", again, got)
			}
		})
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	token := githubToken()
	text := "first\nsecret_token = '" + token + "'\n"
	want := []redact.Finding{{Rule: "github-pat", Secret: token, Start: 22, End: 22 + len(token)}}
	if diff := cmp.Diff(want, redact.New().Find(text)); diff != "" {
		t.Errorf("Find (-want +got):\n%s", diff)
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	token := githubToken()
	tests := []struct{ path, want string }{
		{"src/main.go", "src/main.go"},
		{"api_key=" + genericValue() + ".txt", "api_key=" + genericValue() + ".txt"},
		{".git/objects/3f/786850e387550fdab836ed7e6dc881de23001b", ".git/objects/3f/786850e387550fdab836ed7e6dc881de23001b"},
		{"dist/app.4f9c1e2d7a6b8035.min.js", "dist/app.4f9c1e2d7a6b8035.min.js"},
		{"Assets/TextMeshProUnityEditorTestScene2024Final.unity", "Assets/TextMeshProUnityEditorTestScene2024Final.unity"},
		{token, "REDACTED"},
		{"tokens/" + token + "/config", "tokens/REDACTED/config"},
		{"tokens/" + token + ".txt.bak", "tokens/REDACTED.txt.bak"},
		{`C:\tokens\` + awsKey() + `.txt`, `C:\tokens\REDACTED.txt`},
		{"a/xoxb-" + "1234567890-1234567890-" + random36, "a/REDACTED"},
	}
	r := redact.New()
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, r.Path(tt.path)); diff != "" {
			t.Errorf("Path(%q) (-want +got):\n%s", tt.path, diff)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	r := redact.New()
	text := "api_key = \"" + genericValue() + "\"\n" + githubToken() + "\n" + awsKey() + "\n"
	want := redact.New().Text(text)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := r.Text(text); got != want {
					t.Errorf("Text = %q, want %q", got, want)
				}
			}
		})
	}
	wg.Wait()
}
