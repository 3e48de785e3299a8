package cli_test

import (
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// pendingDesk returns a repository with a session that has a pending file.
func pendingDesk(t testing.TB) *desk {
	t.Helper()
	d := repoDesk(t)
	d.must("enable", "--agent", "claude-code")
	d.write(".git/entire-sessions/11111111-aaaa.json", `{"session_id": "11111111-aaaa", "base_commit": "`+d.git("rev-parse", "HEAD")+`",
		"worktree_path": "`+d.root+`", "started_at": "2026-11-20T09:00:00Z", "phase": "idle", "checkpoint_count": 1, "files_touched": ["a"]}`)
	return d
}

func TestResetAsks(t *testing.T) {
	t.Parallel()
	d := pendingDesk(t)
	d.terminal = ui.Terminal{In: true, Out: true, Err: true, Accessible: true, Plain: true}
	d.input = strings.NewReader("n\n")
	check(t, "Nothing was reset.\n", d.must("reset"))
	if r := d.entire("reset", "--json"); r.code != 2 || !strings.Contains(r.out, `"error":"can't ask without a terminal: `) {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	d.input = strings.NewReader("y\n")
	check(t, "✓ Discarded session 1111111 (1 pending file)\n", d.must("reset"))
	if out := d.must("reset"); !strings.HasPrefix(out, "Nothing to reset for entire/") {
		t.Error(out)
	}
}

func TestResetRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"nobody to ask":      {nil, 2, "pass --force"},
		"an unknown session": {[]string{"--force", "--session", "nobody"}, 1, "no such session in this worktree"},
		"an argument":        {[]string{"everything"}, 2, "takes no argument"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := pendingDesk(t)
			if r := d.entire(append([]string{"reset"}, c.args...)...); r.code != c.code || !strings.Contains(r.err, c.says) {
				t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
			}
			d.read(".git/entire-sessions/11111111-aaaa.json")
		})
	}
}

// TestOrphanNamesAreEscaped checks that control characters in names aren't printed.
func TestOrphanNamesAreEscaped(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.must("enable", "--agent", "claude-code")
	d.write(".git/entire-sessions/a\u202eb.json", `{"session_id": "a\u202eb", "worktree_path": "/w", "started_at": "2024-01-01T00:00:00Z", "phase": "idle"}`)
	d.write(".git/entire-sessions/last.json", `{"session_id": "last", "worktree_path": "/w", "started_at": "2024-01-02T00:00:00Z", "phase": "idle"}`)
	out := d.must("clean")
	if !strings.Contains(out, "Found 1 orphaned items:") || strings.ContainsRune(out, '\u202e') {
		t.Errorf("%q", out)
	}
	if out := d.must("clean", "--force"); !strings.Contains(out, "Deleted 1 orphaned items:") {
		t.Error(out)
	}
}
