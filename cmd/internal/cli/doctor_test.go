package cli_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// TestDoctorAsksForEachKind answers no to one question and yes to the other.
func TestDoctorAsksForEachKind(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.must("enable", "--agent", "claude-code")
	for _, path := range []string{d.path(".git/hooks/post-commit"), d.path(".claude/settings.json")} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	d.terminal = ui.Terminal{In: true, Err: true, Accessible: true}
	d.input = strings.NewReader("n\ny\n")
	r := d.entire("doctor", "--fix")
	if r.code != 1 || !strings.Contains(r.err, "Repair git hooks missing") || !strings.Contains(r.err, "Repair agent hooks missing") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if _, err := os.Stat(d.path(".git/hooks/post-commit")); err == nil {
		t.Error("repaired though the answer was no")
	}
	if _, err := os.Stat(d.path(".claude/settings.json")); err != nil {
		t.Error("not repaired though the answer was yes")
	}
}

func TestDoctorJSON(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.must("enable", "--agent", "claude-code")
	if err := os.Remove(d.path(".claude/settings.json")); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version  int
		OK       bool
		Findings []struct {
			Code, Severity, Subject, What, Why, Fix string
			Fixable                                 bool
		}
		Repairs []struct{ Code, Backup, Error string }
		Backups []struct{ Name string }
	}
	r := d.entire("doctor", "--json")
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 1 {
		t.Fatalf("exit %d, %v\n%s", r.code, err, r.out)
	}
	// The test's program isn't the one on PATH, which results in a note.
	if len(got.Findings) != 2 || got.Findings[1].Code != "other-program" || got.OK || got.Findings[0].Code != "agent-hooks-missing" || !got.Findings[0].Fixable || got.Findings[0].Severity != "warning" {
		t.Errorf("%+v", got)
	}
	if err := json.Unmarshal([]byte(d.must("doctor", "-f", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if !got.OK || len(got.Findings) != 1 || len(got.Repairs) != 1 || len(got.Backups) != 1 || got.Backups[0].Name != got.Repairs[0].Backup {
		t.Errorf("%+v", got)
	}
}

func TestDoctorWithoutSetup(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	before := d.snapshot()
	if out := d.must("doctor"); !strings.Contains(out, "sessions are not recorded here") || strings.Contains(out, "No problems found.") {
		t.Error(out)
	}
	if after := d.snapshot(); len(after) != len(before) {
		t.Error("something was written")
	}
}
