package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/testkit/secretkinds"
)

// A known secret is found in every form, and nothing around it reveals it.
func TestAttackKnownSecretsInAllForms(t *testing.T) {
	t.Setenv("APP_TOKEN", secretkinds.New(1, 1).Of(alnums, 20))
	root := t.TempDir()
	m := secretkinds.New(2, 2)
	inFile, inEnvironment, inSession := m.Of(alnums, 20), secretkinds.New(1, 1).Of(alnums, 20), m.Of(alnums, 24)
	writeFiles(t, root, map[string]string{".env": "SOMETHING=" + inFile + "\n"})
	r := redact.New().WithFilesOf(root).WithMemory()
	if got := r.Text("password = \"" + inSession + "\"\n"); strings.Contains(got, inSession) {
		t.Fatal(got)
	}
	for from, v := range map[string]string{"file": inFile, "environment": inEnvironment, "session": inSession} {
		for _, f := range secretkinds.Forms() {
			text := "take \"" + v + "\" there, and go on"
			encoded, kept := f.Encode(text), "go on"
			if f.Inside {
				encoded = strings.Replace(text, v, f.Encode(v), 1)
			}
			line, err := json.Marshal(map[string]any{"text": "see:\n" + encoded + "\nand more\n"})
			if err != nil {
				t.Fatal(err)
			}
			got := string(r.Line(line))
			if !strings.Contains(got, "REDACTED") || strings.Contains(got, v) {
				t.Errorf("value of the %s, %s: %s", from, f.Name, got)
			}
			if f.Inside && !strings.Contains(got, kept) {
				t.Errorf("%s: too much is gone: %s", f.Name, got)
			}
		}
	}
}

// Folders in the environment aren't secrets, whatever the names of the variables.
func TestFoldersOfEnvironmentAreKept(t *testing.T) {
	t.Setenv("OLDPWD", "/srv/q7w8E9r0/work2")
	t.Setenv("SSH_ASKPASS", "/usr/lib/q7w8E9r0/askpass2")
	text := "cd /srv/q7w8E9r0/work2 and run /usr/lib/q7w8E9r0/askpass2"
	if got := redact.New().WithFilesOf(t.TempDir()).Text(text); got != text {
		t.Error(got)
	}
}

// A secret is found in the other forms in which the same line has it.
func TestAttackOtherFormInOneLine(t *testing.T) {
	t.Parallel()
	r := redact.New()
	m := secretkinds.New(3, 3)
	for _, f := range secretkinds.Forms() {
		v := m.Of(alnums, 20)
		encoded := f.Encode("take \"" + v + "\" there, and go on")
		if f.Inside {
			encoded = f.Encode(v)
		}
		line, err := json.Marshal(map[string]any{"a": "password = \"" + v + "\"\n", "b": "see:\n" + encoded + "\nand more\n"})
		if err != nil {
			t.Fatal(err)
		}
		got := string(r.Line(line))
		if strings.Count(got, "REDACTED") < 2 {
			t.Errorf("%s: %s", f.Name, got)
		}
	}
}
