package claude_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// program puts a shell script on the PATH as claude.
func program(t *testing.T, script string) []string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := dir + ":/usr/bin:/bin"
	t.Setenv("PATH", path)
	return []string{"PATH=" + path, "GIT_DIR=/nowhere", "CLAUDECODE=1", "CLAUDE_CONFIG_DIR=/config", "ANTHROPIC_API_KEY=key"}
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
	if _, err := claude.Ask(t.Context(), nil, "question"); !errors.Is(err, proc.ErrNoProgram) {
		t.Errorf("%v", err)
	}
}
