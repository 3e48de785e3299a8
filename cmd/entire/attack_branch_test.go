package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// hostileBranches are contents of entire/checkpoints/v1, as a stream for git
// fast-import: the paths of a checkpoint a1b2c3d4e5f6, each changed in one way.
func hostileBranches() map[string]string {
	const dir, session = "a1/b2c3d4e5f6", "11111111-1111-4111-8111-111111111111"
	whole := map[string]string{
		dir + "/metadata.json":      `{"checkpoint_id":"a1b2c3d4e5f6","strategy":"manual-commit","branch":"main","files_touched":["a"]}`,
		dir + "/0/metadata.json":    `{"session_id":"` + session + `","checkpoint_id":"a1b2c3d4e5f6","agent":"Claude Code","created_at":"2026-01-01T00:00:00Z","files_touched":["a"]}`,
		dir + "/0/full.jsonl":       `{"type":"user","message":{"role":"user","content":"hi"},"timestamp":"2026-01-01T00:00:00Z"}`,
		dir + "/0/prompt.txt":       "hi",
		dir + "/0/content_hash.txt": "x",
	}
	all := map[string]string{}
	variant := func(name, path, text string) {
		var b strings.Builder
		b.WriteString("commit refs/heads/entire/checkpoints/v1\ncommitter a <a@example.com> 0 +0000\ndata 1\nx\n")
		for p, content := range whole {
			if p == path || strings.HasPrefix(p, path+"/") {
				continue
			}
			fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", p, len(content), content)
		}
		mode := "100644"
		if target, ok := strings.CutPrefix(text, "link:"); ok {
			mode, text = "120000", target
		}
		fmt.Fprintf(&b, "M %s inline %s\ndata %d\n%s\n", mode, path, len(text), text)
		all[name] = b.String()
	}
	replaced := func(path, old, text string) {
		variant(fmt.Sprintf("%.30q", text), path, strings.Replace(whole[path], old, text, 1))
	}
	slot := dir + "/0/metadata.json"
	for _, id := range []string{"../../../outside", "/tmp/outside", "a/../../b", "--force", "", strings.Repeat("x", 70_000), `\u0000`, `\u001b]0;PWN\u0007`, "."} {
		replaced(slot, session, id)
		replaced(dir+"/metadata.json", "a1b2c3d4e5f6", id)
	}
	for _, path := range []string{"../outside", "/etc/passwd", ".git/config", ".git/hooks/post-commit", `\u001b[2J`} {
		replaced(slot, `["a"]`, `["`+path+`"]`)
		replaced(slot, `"agent"`, `"transcript_path":"`+path+`","agent"`)
		replaced(dir+"/metadata.json", `["a"]`, `["`+path+`"]`)
	}
	for name, text := range map[string]string{
		"list": "[]", "null": "null", "types": `{"session_id":{},"files_touched":7,"created_at":[]}`, "cut": `{"session_id":"`,
		"deep": strings.Repeat(`{"a":`, 100_000), "binary": "\x00\xff\xfe", "empty": "", "link": "link:/etc/passwd", "link up": "link:../../../../outside",
	} {
		for _, file := range []string{"metadata.json", "0/metadata.json", "0/full.jsonl", "0/prompt.txt"} {
			variant(name+" "+file, dir+"/"+file, text)
		}
	}
	for _, name := range []string{dir + "/0", dir, "a1", "a1/x", dir + "/-1/full.jsonl", dir + "/99999999999999999999/metadata.json", dir + "/0/full.jsonl.-1", strings.Repeat("d/", 500) + "x"} {
		variant("path "+fmt.Sprintf("%.30s", name), name, "{}")
	}
	return all
}

// TestAttackBranches: the contents of a fetched branch of checkpoints reach no file outside,
// run nothing, crash or hang no command, and send no control characters to the terminal.
func TestAttackBranches(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "all commands on each branch")
	commands := [][]string{
		{"explain", "--no-pager"},
		{"explain", "-c", "a1b2c3d4e5f6", "--no-pager"},
		{"explain", "-c", "a1b2c3d4e5f6", "--full", "--no-pager"},
		{"explain", "-c", "a1b2c3d4e5f6", "--json"},
		{"explain", "--commit", "HEAD", "--no-pager"},
		{"rewind", "--list"},
		{"rewind", "--to", "a1b2c3d4e5f6", "--logs-only", "--force"},
		{"resume", "main", "--force"},
		{"doctor"},
		{"hooks", "claude-code", "stop"},
	}
	repo := matrixRepo(t)
	repo.Git("commit", "-q", "--no-verify", "--allow-empty", "-m", "work\n\nEntire-Checkpoint: a1b2c3d4e5f6")
	home := repo.Env.Get("HOME")
	// The only file that a command may write is the transcript of that session, in the agent's
	// folder.
	transcript := filepath.Join(home, ".claude", "projects", testkit.Slug(repo.Dir), "11111111-1111-4111-8111-111111111111.jsonl")
	state := func() string {
		var files []string
		for _, root := range []string{filepath.Dir(repo.Dir), filepath.Join(home, ".claude"), filepath.Join(repo.Dir, ".git", "hooks")} {
			files = append(files, strings.Split(testkit.Fingerprint(root, 1000), "\n")...)
		}
		files = slices.DeleteFunc(files, func(line string) bool { return line == "" || strings.Contains(line, transcript) })
		return strings.Join(files, "\n") + repo.Git("symbolic-ref", "HEAD") + repo.Git("rev-parse", "HEAD") + repo.Git("config", "--list", "--local")
	}
	branches := hostileBranches()
	names := slices.Sorted(maps.Keys(branches))
	step := max(1, len(names)/max(1, attackTries(8)))
	tries := 0
	before := state()
	if !strings.Contains(before, "post-commit") {
		t.Fatalf("the state is %q", before)
	}
	for i := 0; i < len(names); i += step {
		repo.GitInput(branches[names[i]], "fast-import", "--quiet", "--force")
		for _, args := range commands {
			tries++
			began := time.Now()
			got := testkit.Call{Dir: repo.Dir, Env: repo.Env, Name: "entire", Args: args}.Run(t)
			said := got.Stdout + got.Stderr
			if got.Code > 1 || strings.Contains(said, "goroutine ") || strings.Contains(said, "root:x:") || time.Since(began) > 30*time.Second {
				t.Errorf("%s: %q: exit %d after %v: %.500s", names[i], args, got.Code, time.Since(began), said)
			}
			if strings.ContainsAny(said, "\x1b\a") {
				t.Errorf("%s: %q: a control is printed: %.500q", names[i], args, said)
			}
			if args[0] == "hooks" && got.Code != 0 {
				t.Errorf("%s: the hook: exit %d", names[i], got.Code)
			}
			if now := state(); now != before {
				t.Errorf("%s: %q changed\n%s\nto\n%s", names[i], args, before, now)
				before = now
			}
		}
	}
	t.Logf("%d tries", tries)
}
