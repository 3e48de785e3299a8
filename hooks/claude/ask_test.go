package claude_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// program puts a shell script on the PATH as claude, and returns the environment.
func program(t *testing.T, script string) []string {
	t.Helper()
	dir := t.TempDir()
	if err := testkit.WriteProgram(filepath.Join(dir, "claude"), "#!/bin/sh\n"+script+"\n"); err != nil {
		t.Fatal(err)
	}
	path := dir + ":/usr/bin:/bin"
	t.Setenv("PATH", path)
	return []string{"PATH=" + path, "HOME=" + t.TempDir(), "GIT_DIR=/nowhere", "CLAUDECODE=1", "CLAUDE_CONFIG_DIR=/config", "ANTHROPIC_API_KEY=key"}
}

func TestAsk(t *testing.T) {
	ok := `{"type":"result","is_error":false,"result":"yes"}`
	for name, c := range map[string]struct {
		script, want string
		err          error
	}{
		"an object":       {script: "cat > /dev/null; echo '" + ok + "'", want: "yes"},
		"a list":          {script: `echo '[{"type":"system"},` + ok + `]'`, want: "yes"},
		"environment":     {script: `echo '{"type":"result","result":"'$GIT_DIR$CLAUDECODE$CLAUDE_CONFIG_DIR$ANTHROPIC_API_KEY$ENTIRE_SUMMARIZING'"}'`, want: "/configkey1"},
		"standard input":  {script: `echo '{"type":"result","result":"'$(cat)'"}'`, want: "question"},
		"an error":        {script: `echo '{"type":"result","is_error":true,"result":"no credit"}'; exit 1`, err: claude.ErrAnswer},
		"no result":       {script: `echo '{"type":"system"}'`, err: claude.ErrAnswer},
		"no JSON":         {script: `echo yes`, err: claude.ErrAnswer},
		"nothing":         {script: `exit 0`, err: claude.ErrAnswer},
		"output for ever": {script: `yes`, err: proc.ErrOutput},
	} {
		t.Run(name, func(t *testing.T) {
			environ := program(t, c.script)
			got, err := claude.Ask(t.Context(), environ, "question")
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

func TestAskWithoutAnswer(t *testing.T) {
	environ := program(t, "sleep 1000")
	ctx, cancel := context.WithTimeout(t.Context(), 1)
	defer cancel()
	if _, err := claude.Ask(ctx, environ, "question"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := claude.Ask(t.Context(), environ, "question"); !errors.Is(err, proc.ErrNoProgram) {
		t.Errorf("%v", err)
	}
}

// TestAttackAskRunsInPrivateFolder: there are folders above in which others could put
// instructions for the program.
func TestAttackAskRunsInPrivateFolder(t *testing.T) {
	environ := program(t, `cat > /dev/null
echo '{"type":"result","result":"'$(pwd -P) $(stat -c %a . 2>/dev/null || stat -f %Lp .) $(ls -A | wc -l)'"}'; touch left`)
	home := strings.TrimPrefix(environ[1], "HOME=")
	physical, err := filepath.EvalSymlinks(home)
	must(t, err)
	base := filepath.Join(physical, ".cache", "entire")
	old := filepath.Join(base, "ask-left")
	must(t, os.MkdirAll(old, 0o700))
	must(t, os.Chtimes(old, time.Unix(1, 0), time.Unix(1, 0)))
	got, err := claude.Ask(t.Context(), environ, "question")
	if fields := strings.Fields(got); err != nil || !slices.Equal(fields, []string{filepath.Join(base, "ask"), "700", "0"}) {
		t.Errorf("it ran in %q, %v", got, err)
	}
	must(t, os.Mkdir(filepath.Join(base, "ask"), 0o700)) // another process runs
	got, err = claude.Ask(t.Context(), environ, "question")
	if err != nil || !strings.HasPrefix(got, filepath.Join(base, "ask-")) || !strings.HasSuffix(got, " 700 0") {
		t.Errorf("beside another it ran in %q, %v", got, err)
	}
	entries, err := os.ReadDir(base)
	if err != nil || len(entries) != 1 || entries[0].Name() != "ask" {
		t.Errorf("left: %v, %v", entries, err)
	}
	for name, spoil := range map[string]func(home string) error{
		"a home for everybody": func(home string) error { return os.Chmod(home, 0o777) },
		"a cache for everybody": func(home string) error {
			return errors.Join(os.Mkdir(filepath.Join(home, ".cache"), 0o700), os.Chmod(filepath.Join(home, ".cache"), 0o1777))
		},
		"a link to a folder for everybody": func(home string) error {
			open := filepath.Join(home, "open")
			return errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777), os.Symlink(open, filepath.Join(home, ".cache")))
		},
		"no home": func(string) error { return nil },
	} {
		home := t.TempDir()
		must(t, spoil(home))
		environ := slices.Clone(environ)
		if environ[1] = "HOME=" + home; name == "no home" {
			environ[1] = "HOME="
		}
		if got, err := claude.Ask(t.Context(), environ, "question"); err == nil {
			t.Errorf("%s: it ran in %s", name, got)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
