package testkit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// upstream returns a repository that breaks no rule.
func upstream(t *testing.T) *testkit.Upstream {
	t.Helper()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	env := testkit.CleanEnv(home, t.TempDir(), os.Getenv("PATH"))
	return testkit.NewUpstream(t, filepath.Join(dir, "w"), filepath.Join(dir, "claude"), env)
}

func TestCheckFindsBrokenRules(t *testing.T) {
	t.Parallel()
	const dir = "a1/b2c3d4e5f6/"
	table := map[string]struct {
		plant func(u *testkit.Upstream)
		want  string
	}{
		"nothing":              {func(*testkit.Upstream) {}, ""},
		"a dangling trailer":   {func(u *testkit.Upstream) { emptyCommit(u, "x\n\nEntire-Checkpoint: 0123456789ab") }, "0123456789ab, which isn't stored"},
		"an id twice":          {twice, "twice"},
		"a lost commit":        {lose, "no commit names it"},
		"a foreign file":       {replace(dir+"metadata.json", "done.txt", "other.txt"), `lists "other.txt"`},
		"a slot's own files":   {replace(dir+"0/metadata.json", "done.txt", "other.txt"), "which no session has"},
		"a wrong hash":         {replace(dir+"0/content_hash.txt", "sha256:", "sha256:0"), "content_hash.txt is"},
		"a changed transcript": {replace(dir+"0/full.jsonl", "done.txt", "d.txt"), "content_hash.txt is"},
		"a broken line":        {replace(dir+"0/full.jsonl", "{", "<"), "is no JSON"},
		"a temporary file":     {func(u *testkit.Upstream) { u.Write(".git/entire-sessions/x.json.tmp", "x") }, "left over"},
		"a lock":               {func(u *testkit.Upstream) { u.Write(".git/refs/heads/main.lock", "") }, "left over"},
		"a broken object":      {damage, "git fsck"},
	}
	for name, c := range testkit.ShortTable(table, 4) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := upstream(t)
			c.plant(u)
			faults := strings.Join(testkit.Faults(t, u.Repo), "\n")
			if c.want == "" && faults != "" || !strings.Contains(faults, c.want) {
				t.Errorf("faults are %q, want one with %q", faults, c.want)
			}
		})
	}
}

func emptyCommit(u *testkit.Upstream, message string) {
	u.Git("-c", "core.hooksPath=/nowhere", "commit", "-q", "--allow-empty", "-m", message)
}

func twice(u *testkit.Upstream) {
	emptyCommit(u, "x\n\nEntire-Checkpoint: "+testkit.UpstreamID+"\nEntire-Checkpoint: "+testkit.UpstreamID)
}

// lose removes the linked commit from every branch and every reflog.
func lose(u *testkit.Upstream) {
	u.Git("checkout", "-q", "HEAD~")
	u.Git("branch", "-q", "-f", "main", "HEAD")
	u.Git("reflog", "expire", "--expire=all", "--all")
	for _, name := range u.Shadows() {
		u.Git("update-ref", "-d", name)
	}
}

// replace rewrites one file of the stored checkpoint.
func replace(path, old, text string) func(u *testkit.Upstream) {
	return func(u *testkit.Upstream) {
		content := strings.ReplaceAll(u.Git("show", testkit.Branch+":"+path), old, text)
		if strings.HasSuffix(path, "metadata.json") {
			content += "\n"
		}
		blob := u.GitInput(content, "hash-object", "-w", "--stdin")
		u.GitInput("commit "+testkit.Branch+"\ncommitter A <a@example.com> 1770000001 +0000\ndata 1\nx\n"+
			"from "+testkit.Branch+"^0\nM 100644 "+blob+" "+path+"\n\ndone\n", "fast-import", "--quiet", "--done")
	}
}

// damage overwrites a loose object.
func damage(u *testkit.Upstream) {
	id := u.GitInput("to be damaged", "hash-object", "-w", "--stdin")
	path := filepath.Join(u.Dir, ".git", "objects", id[:2], id[2:])
	if err := os.Remove(path); err != nil {
		u.TB.Fatalf("%v", err)
	}
	u.Write(path, "no object at all")
}
