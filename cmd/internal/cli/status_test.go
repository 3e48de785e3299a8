package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// golden compares got with testdata/<name>.
func golden(t testing.TB, name, got string) {
	t.Helper()
	testkit.Golden(t, filepath.Join("testdata", name), got)
}

// busy returns a repository with several sessions, failed hooks and a journal.
func busy(t testing.TB) *desk {
	t.Helper()
	d := repoDesk(t)
	d.must("enable", "--agent", "claude-code")
	d.write(".git/entire-sessions/11111111-aaaa.json", `{"session_id": "11111111-aaaa", "base_commit": "x", "worktree_path": "`+d.root+`",
		"started_at": "2026-11-20T09:00:00Z", "last_interaction_time": "2026-11-20T11:59:00Z", "phase": "active", "checkpoint_count": 1,
		"agent_type": "Claude Code", "first_prompt": "Add a\u001b[31m \"cache\"", "files_touched": ["a", "b"], "last_checkpoint_id": "0123456789ab"}`)
	d.write(".git/entire-sessions/22222222-bbbb.json", `{"session_id": "22222222-bbbb", "base_commit": "x", "worktree_path": "`+d.root+`",
		"started_at": "2026-11-18T09:00:00Z", "phase": "idle", "checkpoint_count": 0}`)
	d.write(".git/entire-sessions/33333333-cccc.json", `{"session_id": "33333333-cccc", "base_commit": "x", "worktree_path": "/gone",
		"started_at": "2026-11-20T11:00:00Z", "phase": "idle", "checkpoint_count": 0, "agent_type": "Gemini CLI"}`)
	d.write(".git/entire-sessions/44444444-dddd.json", `{"session_id": "44444444-dddd", "base_commit": "x", "worktree_path": "`+d.root+`",
		"started_at": "2026-11-20T09:00:00Z", "ended_at": "2026-11-20T10:00:00Z", "phase": "ended", "checkpoint_count": 0}`)
	d.write(".entire/logs/entire.log", strings.Join([]string{
		`{"time":"2026-11-01T10:00:00Z","level":"ERROR","msg":"hook","hook":"stop","success":false}`,
		`{"time":"2026-11-17T10:00:00Z","level":"ERROR","msg":"hook","hook":"stop","success":false}`,
		`not JSON`,
		`{"time":"2026-11-18T10:00:00Z","level":"INFO","msg":"hook","hook":"stop","success":true}`,
		`{"time":"2026-11-18T10:00:00Z","level":"ERROR","msg":"hook","hook":"post-commit","success":false}`,
	}, "\n")+"\n")
	d.write(".git/entire/journal/a.json", "{}")
	d.write(".entire/settings.local.json", `{"commit_linking": "never", "colour": "red"}`)
	return d
}

func TestStatusGolden(t *testing.T) {
	t.Parallel()
	d := busy(t)
	golden(t, "status.json", d.must("status", "--json")) // first: a person sees failures only once
	golden(t, "status.txt", d.must("status"))
	if err := os.Remove(d.path(".entire/logs/seen")); err != nil {
		t.Error(err)
	}
	golden(t, "status-detailed.txt", d.must("status", "--detailed"))
	golden(t, "config.txt", d.must("config"))
	golden(t, "config.json", d.must("config", "--json"))
	golden(t, "help.txt", d.must("help"))
}

func TestStatusWithoutSetup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		git        []string
		text, json string
	}{
		"no repository": {nil, "✕ not a git repository\n", "no-repository"},
		"bare":          {[]string{"init", "-q", "--bare"}, "○ bare repository: nothing to record\n", "bare"},
		"not set up":    {[]string{"init", "-q"}, "○ not set up (run `entire enable`)\n", "not-set-up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			if c.git != nil {
				d.git(c.git...)
			}
			check(t, c.text, d.must("status"))
			var r struct {
				State    string
				Sessions []any
				Notes    []any
			}
			if err := json.Unmarshal([]byte(d.must("status", "--json")), &r); err != nil {
				t.Fatal(err)
			}
			if r.State != c.json || r.Sessions == nil || r.Notes == nil {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestStatusNotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*desk)
		want  []string // codes
	}{
		"all is well": {func(*desk) {}, nil},
		"a git hook is gone": {func(d *desk) {
			if err := os.Remove(d.path(".git/hooks/post-commit")); err != nil {
				d.Fatal(err)
			}
		}, []string{"git-hooks-missing"}},
		"a git hook was replaced": {func(d *desk) {
			if err := testkit.WriteProgram(d.path(".git/hooks/post-commit"), "#!/bin/sh\n"); err != nil {
				d.Fatal(err)
			}
		}, []string{"git-hooks-overwritten"}},
		"core.hooksPath leads nowhere": {func(d *desk) {
			d.git("config", "core.hooksPath", "/nowhere")
		}, []string{"hooks-path"}},
		"the agent's hooks are gone": {func(d *desk) {
			d.write(".claude/settings.json", "{}")
		}, []string{"agent-hooks-missing"}},
		"hooks of the former tool": {func(d *desk) {
			text := strings.Replace(d.read(".claude/settings.json"), `"hooks": {`,
				`"hooks": {"PostToolUse": [{"matcher": "TodoWrite", "hooks": [{"type": "command", "command": "entire hooks claude-code post-todo"}]}],`, 1)
			d.write(".claude/settings.json", text)
		}, []string{"former-hooks"}},
		"a damaged state": {func(d *desk) {
			d.write(".git/entire-sessions/a.json", "{")
		}, []string{"session-state"}},
		"not on PATH": {func(d *desk) {
			d.env = append(d.env, "PATH=/usr/bin:/bin")
		}, []string{"not-on-path"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := repoDesk(t)
			d.must("enable", "--agent", "claude-code")
			c.spoil(d)
			var r struct {
				Notes []struct{ Code, Message string }
			}
			if err := json.Unmarshal([]byte(d.must("status", "--json")), &r); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range r.Notes {
				got = append(got, n.Code)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\n%v", diff, r.Notes)
			}
		})
	}
}

func TestLinkedWorktreeLacksTheAgentsHooks(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.must("enable", "--agent", "claude-code")
	d.git("worktree", "add", "-q", d.path("../other"))
	other := *d
	other.root = d.path("../other")
	out := other.must("status")
	if !strings.HasPrefix(out, "Enabled (manual-commit), by this repository's settings\n") || !strings.Contains(out, "hint: run `entire enable --agent claude-code` in $WORK") {
		t.Error(out)
	}
	out = other.must("enable", "--agent", "claude-code")
	if !strings.Contains(out, "Installed 13 hooks") || !strings.Contains(out, "Ready.") {
		t.Error(out)
	}
	check(t, "?? .claude/\n?? .entire/", other.git("status", "--porcelain"))
	if _, err := os.Stat(other.path(".entire/settings.json")); err == nil {
		t.Error("wrote settings that the main worktree has already")
	}
	check(t, "Enabled (manual-commit), by this repository's settings\nSnapshots: off\nNext: start your agent and work as usual; `entire log` then lists its turns\n", other.must("status"))
}

func TestErrorsAsJSON(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.root = filepath.Join(d.root, "gone")
	r := d.entire("status", "--json")
	var e struct{ Error string }
	if err := json.Unmarshal([]byte(r.out), &e); err != nil || r.code != 1 || e.Error == "" || strings.Count(r.out, "\n") != 1 {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

// TestStatusSchema checks that docs/formats/status.md names every key.
func TestStatusSchema(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "formats", "status.md"))
	if err != nil {
		t.Fatal(err)
	}
	d := busy(t)
	d.now = d.now.Add(time.Second)
	for _, args := range [][]string{{"status", "--json"}, {"config", "--json"}} {
		var v any
		if err := json.Unmarshal([]byte(d.must(args...)), &v); err != nil {
			t.Fatal(err)
		}
		keys(v, func(key string) {
			if !strings.Contains(string(doc), "`"+key+"`") {
				t.Errorf("the page doesn't name %s of %v", key, args)
			}
		})
	}
}

func keys(v any, yield func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			yield(k)
			keys(inner, yield)
		}
	case []any:
		for _, inner := range v {
			keys(inner, yield)
		}
	}
}
