package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// TestDisabled checks commands that use recorded sessions, with recording disabled and enabled.
func TestDisabled(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for _, c := range []struct{ settings, want string }{
		{`{"enabled": false}`, "Entire is disabled. Run `entire enable` to re-enable.\n"},
		{`{"enabled": true}`, "ran\n"},
	} {
		if err := os.MkdirAll(filepath.Join(root, ".entire"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, ".entire", "settings.json"), []byte(c.settings), 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		a := &app.App{Env: app.Env{
			Dir: root, Getenv: func(string) string { return "" }, Environ: []string{},
			Streams: ui.Streams{Out: &out, Err: &out},
		}}
		cmd := newRootCmd(a, []group{{"", []build{func(*app.App) *cobra.Command {
			return &cobra.Command{Use: "history", Run: func(*cobra.Command, []string) { a.Streams.Printf("ran\n") }}
		}}}})
		cmd.SetArgs([]string{"history"})
		ran, err := cmd.ExecuteContextC(t.Context())
		if code := report(t.Context(), a, command{Command: ran}, err); code != 0 || out.String() != c.want {
			t.Errorf("exit %d, %q", code, out.String())
		}
	}
}
