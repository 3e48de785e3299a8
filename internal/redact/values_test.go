package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/testkit/secretkinds"
)

func writeFiles(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAttackWorktreeValues checks that the values in the secret files of a worktree are replaced
// everywhere, even where nothing around a value reveals it.
func TestAttackWorktreeValues(t *testing.T) {
	t.Parallel()
	for i := range tries(5) {
		m := secretkinds.New(uint64(i), 9)
		root := t.TempDir()
		odd := "o\"d\\" + m.Of(alnums, 10) + "é&/"
		// The name SECOND doesn't suggest a secret, so letters with up to four digits after them
		// would be treated as a word.
		values := []string{m.Of(alnums, 8), m.Of(lowers, 5) + m.Of(digits, 1) + m.Of(lowers+digits, 6), odd, m.Of(b64s, 40), m.Of(alnums, 14), m.Of(alnums, 16), m.Of(alnums, 18), m.Of(alnums, 11)}
		_, body, _ := m.PEM("X", 3)
		keyLine := body[65:129]
		writeFiles(t, root, map[string]string{
			".env":              "# comment\nFIRST=" + values[0] + "\nexport SECOND=\"" + values[1] + "\" # x\nODD_PASSWORD='" + odd + "'\n",
			".env.production":   "DATABASE_URL=postgres://u:" + values[4] + "@h/db\n",
			"deep/er/.env":      "THIRD=" + values[3] + "\n",
			".netrc":            "machine h\nlogin l\npassword " + values[5] + "\n",
			"config/.pgpass":    "h:5432:d:u:" + values[6] + "\n",
			"keys/id_ed25519":   "-----BEGIN OPENSSH " + "PRIVATE KEY-----\n" + body + "-----END OPENSSH " + "PRIVATE KEY-----\n",
			".npmrc":            "//registry/:_authToken=" + values[7] + "\n",
			"node_modules/.env": "NOT=" + m.Of(alnums, 30) + "\n",
		})
		r := redact.New().WithFilesOf(root)
		for _, v := range append(values, keyLine) {
			once, _ := json.Marshal(v)
			twice, _ := json.Marshal(string(once))
			forms := map[string]string{
				"plain": v, "json": strings.Trim(string(once), `"`), "json twice": strings.TrimSuffix(strings.TrimPrefix(string(twice), `"\"`), `\""`),
				"percent": url.QueryEscape(v), "hex": hex.EncodeToString([]byte(v)),
				"base64": base64.StdEncoding.EncodeToString([]byte(v)), "base64 inside": base64.StdEncoding.EncodeToString([]byte("\x00a" + v + "\xff\x00 and more")),
			}
			for form, text := range forms {
				line, err := json.Marshal(map[string]any{"content": "see |" + text + "| here"})
				if err != nil {
					t.Fatal(err)
				}
				got := string(r.Line(line))
				inner, _ := json.Marshal(text)
				if strings.Contains(got, strings.Trim(string(inner), `"`)) || !strings.Contains(got, "REDACTED") {
					t.Errorf("%s of %q is left: %s", form, v, got)
				}
			}
		}
	}
}

func TestWorktreeWordsAreKept(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeFiles(t, root, map[string]string{
		".env":         "NODE_ENV=development\nHOME_DIR=/srv/app/data\nURL=https://host.example/path\nREGION=eu-central-1\nTITLE=A fine title of 12 words\nPORT=12345678\nNAME=my-project-name\nDB_PASSWORD=changeme\nAPI_KEY=${API_KEY_OF_HOST}\n",
		".env.example": "API_KEY=k8Jd93jfL2mQ\n",
		"cert.pem":     "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----\n",
	})
	text := "development in /srv/app/data at https://host.example/path, eu-central-1, A fine title of 12 words, 12345678 my-project-name changeme k8Jd93jfL2mQ\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa"
	if got := redact.New().WithFilesOf(root).Text(text); got != text {
		t.Errorf("Text = %q, want %q", got, text)
	}
}

// TestAttackSecretFiles checks that no file or directory of a worktree can block the search for
// secrets.
func TestAttackSecretFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeFiles(t, root, map[string]string{"big.env": "A=" + strings.Repeat("x1y2z3q4", 1<<20) + "\n"})
	if err := os.Symlink("/dev/zero", filepath.Join(root, ".env")); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir(filepath.Join(root, ".netrc"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		writeFiles(t, root, map[string]string{fmt.Sprintf("d%d/e/f/.env", i): "A=" + fmt.Sprintf("q7w8e9r%dt5", i) + "\n"})
	}
	r := redact.New().WithFilesOf(root)
	if text := "an ordinary text"; r.Text(text) != text {
		t.Error("the text was changed")
	}
}

func BenchmarkSecretFiles(b *testing.B) {
	root := b.TempDir()
	files := map[string]string{".env": "A_TOKEN=q7w8e9r0t5y6\nB_PASSWORD=zu7zu8zu9\n"}
	for i := range 2000 {
		files[fmt.Sprintf("p%d/s%d/f%d.go", i%20, i%7, i)] = "package p\n"
	}
	writeFiles(b, root, files)
	for b.Loop() {
		if got := redact.New().WithFilesOf(root).Text("see q7w8e9r0t5y6 there"); got != "see REDACTED there" {
			b.Fatal(got)
		}
	}
}
