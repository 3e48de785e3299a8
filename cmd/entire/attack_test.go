package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// attackTries returns the number of tries of an attack: some, fewer under -short, or
// ENTIRE_TEST_ATTACK.
func attackTries(some int) int {
	if n, err := strconv.Atoi(os.Getenv("ENTIRE_TEST_ATTACK")); err == nil {
		return n
	}
	return testkit.Rounds(max(1, some/4), some)
}

// attempt is one call of a hook with hostile input.
type attempt struct {
	name  string
	args  []string
	stdin string
	env   []string
}

// withstand makes up to n of the attempts, evenly spaced. Each exits 0 in time; branches, the
// index, the worktree except .entire, and the folder above it stay unchanged. A session whose
// transcript is refused may be recorded.
func withstand(t *testing.T, n int, all []attempt) {
	t.Helper()
	repo := matrixRepo(t)
	above := filepath.Dir(repo.Dir)
	state := func() string {
		entries, err := os.ReadDir(above)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(entries, repo.Git("for-each-ref", "refs/heads", "refs/tags", "refs/remotes"), repo.Git("status", "--porcelain", "--untracked-files=all", "--ignored", ":!.entire"), repo.Git("log", "-1", "--format=%H %B"))
	}
	// The first call creates the folder of the log.
	testkit.Call{Dir: repo.Dir, Env: repo.Env, Name: "entire", Args: []string{"hooks", "claude-code", "stop"}}.Run(t)
	before := state()
	step := max(1, len(all)/max(1, n))
	made := 0
	for i := 0; i < len(all); i += step {
		a := all[i]
		made++
		began := time.Now()
		got := testkit.Call{Dir: repo.Dir, Env: repo.Env.With(a.env...), Name: "entire", Args: a.args, Stdin: a.stdin}.Run(t)
		if got.Code != 0 || time.Since(began) > 30*time.Second {
			t.Errorf("%s: exit %d after %v: %.300s", a.name, got.Code, time.Since(began), got.Stderr)
		}
		if now := state(); now != before {
			t.Errorf("%s changed\n%s\nto\n%s", a.name, before, now)
			before = now
		}
	}
	t.Logf("%d tries of %d", made, len(all))
}

func TestAttackPayloads(t *testing.T) {
	t.Parallel()
	verbs := []string{
		"session-start", "user-prompt-submit", "pre-tool-use", "post-tool-use", "stop", "subagent-start", "subagent-stop",
		"pre-compact", "session-end", "pre-task", "post-task", "post-todo", "notification", "permission-request",
	}
	id := "11111111-2222-4333-8444-555555555555"
	path := func(name string) string {
		return fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":"/","hook_event_name":"X","prompt":"p"}`, id, name)
	}
	session := func(name string) string {
		return fmt.Sprintf(`{"session_id":%q,"transcript_path":"/tmp/x.jsonl","cwd":"/"}`, name)
	}
	payloads := map[string]string{
		"empty": "", "space": " \n", "null": "null", "list": "[]", "text": `"x"`, "garbage": "\x00\xff\xfe\x01", "cut": `{"session_id":"`,
		"deep": strings.Repeat(`{"a":`, 200_000), "list deep": strings.Repeat("[", 1_000_000), "long": `{"session_id":"` + strings.Repeat("x", 17<<20),
		"two": "{}{}", "types": `{"session_id":1,"transcript_path":{},"cwd":[]}`, "passwd": path("/etc/passwd"), "zero": path("/dev/zero"),
		"up": path("../../../etc/passwd"), "shadow": path("/etc/shadow.jsonl"), "nul": path("/tmp/a\x00b.jsonl"), "id up": session("../../x"),
		"id path": session("/tmp/evil"), "id nul": session("a\x00b"), "id option": session("--force"), "id long": session(strings.Repeat("a", 5000)),
	}
	var all []attempt
	for name, text := range payloads {
		for _, verb := range verbs {
			all = append(all, attempt{name: verb + " " + name, args: []string{"hooks", "claude-code", verb}, stdin: text})
		}
	}
	withstand(t, attackTries(20), all)
}

func TestAttackGitHookArguments(t *testing.T) {
	t.Parallel()
	hooks := []string{"prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite", "pre-push", "post-checkout", "post-merge", "no-such-hook"}
	lists := [][]string{
		nil,
		{""},
		{"-x"},
		{"/etc/passwd"},
		{"/dev/null"},
		{"../../x", "message"},
		{"no/such/file", "commit", "HEAD"},
		{"."},
		{"\xff\n"},
		{strings.Repeat("a", 100_000)},
		{"a", "b", "c", "d", "e"},
		{"amend"},
		{"rebase"},
		{"origin", "ext::sh -c id"},
	}
	var all []attempt
	for _, hook := range hooks {
		for i, list := range lists {
			stdin := []string{"", "\x00\xff", strings.Repeat("a b\n", 10_000)}[i%3]
			all = append(all,
				attempt{name: fmt.Sprintf("%s %.40q", hook, list), args: append([]string{"hooks", "git", hook}, list...), stdin: stdin},
				attempt{name: fmt.Sprintf("%s %.40q of an agent", hook, list), args: append([]string{"hooks", "git", hook}, list...), env: []string{"CLAUDECODE=1"}})
		}
	}
	withstand(t, attackTries(20), all)
}

func TestAttackEnvironments(t *testing.T) {
	t.Parallel()
	var all []attempt
	for _, entry := range []string{
		"GIT_DIR=/nonexistent", "GIT_WORK_TREE=/", "GIT_INDEX_FILE=/tmp/no/index", "GIT_OBJECT_DIRECTORY=/nonexistent", "GIT_CONFIG_COUNT=x",
		"GIT_CONFIG_PARAMETERS='", "GIT_CEILING_DIRECTORIES=/", "GIT_NAMESPACE=x", "GIT_TRACE=1", "GIT_PAGER=false", "GIT_EDITOR=false", "GIT_SSH_COMMAND=false",
		"LANG=xx_YY", "LC_ALL=C", "TZ=Mars/Base", "HOME=", "HOME=relative", "HOME=/nonexistent", "HOME=/dev/null", "PATH=", "PATH=/nonexistent", "PATH=.",
		"XDG_CONFIG_HOME=relative", "XDG_CONFIG_HOME=/dev/null", "XDG_CACHE_HOME=/dev/null", "TMPDIR=/nonexistent", "CLAUDE_PROJECT_DIR=/nonexistent",
		"CLAUDE_PROJECT_DIR=-x", "CLAUDE_CONFIG_DIR=/dev/null", "AGENTFS_HOME=relative", "CLAUDE_PID=-1", "CLAUDE_PID=99999999999999999999",
		"ENTIRE_HOOKS_TIMEOUT=-1s", "ENTIRE_BANDS_CAP=-1", "PWD=/nonexistent", "NO_COLOR=", "TERM=\x1b[2J",
	} {
		payload := `{"session_id":"../x","hook_event_name":"Stop"}`
		all = append(all, attempt{name: entry, args: []string{"hooks", "claude-code", "stop"}, stdin: payload, env: []string{entry}})
	}
	withstand(t, attackTries(10), all)
}
