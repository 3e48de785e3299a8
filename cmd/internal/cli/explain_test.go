package cli_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestExplainOnATerminal checks that a text longer than the screen is shown through a pager, and
// without one if there is none or it isn't wanted.
func TestExplainOnATerminal(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "builds the program")
	d := explainDesk(t, strings.Repeat("question\\n", 50))
	bin := program(t)
	tests := map[string]struct {
		env  string
		args []string
		want string
	}{
		"pager":            {"PAGER=tr a-z A-Z", nil, "CHECKPOINT:"},
		"arguments":        {"PAGER=head -n 1 | tr a-z A-Z", nil, "CHECKPOINT:"},
		"cat is no pager":  {"PAGER=cat", nil, "\x1b[1mCheckpoint:"},
		"not there":        {"PAGER=no-such-pager", nil, "\x1b[1mCheckpoint:"},
		"not wanted":       {"PAGER=tr a-z A-Z", []string{"--no-pager"}, "\x1b[1mCheckpoint:"},
		"fits":             {"PAGER=tr a-z A-Z", []string{"--short"}, "\x1b[1mCheckpoint:"},
		"without a colour": {"NO_COLOR=1", []string{"--no-pager"}, "Checkpoint: a1b2c3d4e5f6"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(bin, append([]string{"explain", "-c", "a1b2"}, c.args...)...)
			cmd.Dir, cmd.Env = d.root, d.with("TERM=xterm-256color", c.env)
			s := start(t, cmd)
			s.wait(c.want)
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %q", err, s.shown())
			}
		})
	}
}

// explainDesk returns a repository with a commit and its checkpoint, whose transcript contains the
// prompt. The prompt must be escaped for JSON.
func explainDesk(t testing.TB, prompt string) *desk {
	t.Helper()
	d := repoDesk(t)
	d.git("commit", "-q", "--allow-empty", "-m", "Change\n\nEntire-Checkpoint: a1b2c3d4e5f6")
	d.git("switch", "-q", "--orphan", "entire/checkpoints/v1")
	d.write("a1/b2c3d4e5f6/metadata.json", `{"checkpoint_id":"a1b2c3d4e5f6","strategy":"manual-commit"}`)
	d.write("a1/b2c3d4e5f6/0/metadata.json", `{"session_id":"s1","agent":"Claude Code","created_at":"2026-11-20T11:00:00Z"}`)
	d.write("a1/b2c3d4e5f6/0/full.jsonl", `{"type":"user","message":{"content":"`+prompt+`"}}`)
	d.git("add", "a1")
	d.git("commit", "-q", "-m", "Checkpoint: a1b2c3d4e5f6")
	d.git("switch", "-q", "main")
	return d
}
