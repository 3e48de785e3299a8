package difftest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zricethezav/gitleaks/v8/config"
)

// TestVendored checks that the rules vendored in package redact are those of the gitleaks module.
func TestVendored(t *testing.T) {
	t.Parallel()
	got, err := os.ReadFile("../rules/gitleaks.toml")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != config.DefaultConfig {
		t.Error("rules/gitleaks.toml is not config/gitleaks.toml of the module in go.mod")
	}
}

// TestGenerated checks that the table is the output of gen for the rules.
func TestGenerated(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "table.go")
	if msg, err := exec.CommandContext(t.Context(), "go", "run", "./gen", "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("go run ./gen: %v\n%s", err, msg)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../table.go")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("table.go is out of date (-want +got):\n%s", diff)
	}
}
