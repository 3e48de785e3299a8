//go:build faults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestCrashForget stops forgetting at every write, and then runs the same command again. The
// result is the same as without a stop, nothing of the text is left, and no operation is
// unfinished.
func TestCrashForget(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	for _, name := range []string{"session", "text", "before", "file", "session packed", "text packed", "file packed", "secrets"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "root")
			p := newPlay(t, root, bin, "plain")
			p.main().Start("startup")
			p.turn("main", "first.txt")
			p.Git("add", "first.txt")
			p.Git("commit", "-q", "-m", "first")
			p.turn("main", "a.txt")
			states, err := filepath.Glob(p.Path(".git/entire-sessions/*.json"))
			if err != nil || len(states) != 1 {
				t.Fatalf("states %q, %v", states, err)
			}
			id := strings.TrimSuffix(filepath.Base(states[0]), ".json")
			what, _, packed := strings.Cut(name, " ")
			if packed {
				p.Git("gc", "-q")
			}
			const secret = "hunter2-x4711"
			log := p.Path(".entire/logs/old.log")
			if what == "secrets" { // recorded by another program, and in a file of the records
				text := `{"type":"user","uuid":"u1","sessionId":"s","message":{"role":"user","content":"use PASSWORD=` + secret + `"}}`
				p.GitInput("commit refs/heads/entire/checkpoints/v1\ncommitter a <a@example.com> 0 +0000\ndata 1\nx\nfrom refs/heads/entire/checkpoints/v1^0\n"+
					fmt.Sprintf("M 100644 inline a1/b2c3d4e5f6/0/full.jsonl\ndata %d\n%s\n", len(text), text), "fast-import", "--quiet")
				p.Write(".entire/logs/old.log", "said "+secret+"\n")
				p.Write("conf.txt", secret+"\n")
				p.turn("main", "b.txt")
			}
			c := map[string]tidyCase{
				"secrets": {args: []string{"redact", "--apply", "--force"}},
				"session": {args: []string{"forget", "--force", "--session", id}},
				"text":    {args: []string{"forget", "--force", "--text", "first.txt"}},
				"file":    {args: []string{"forget", "--force", "--file", "first.txt"}},
				"before":  {args: []string{"forget", "--force", "--before", "2999-01-01"}},
			}[what]
			copyAll(t, root, root+".kept")
			p.Entire(c.args...)
			want := forgottenRecords(p)
			copyAll(t, root+".kept", root)
			points := 0
			for step := 1; c.stopAt(p, step); step++ {
				points++
				journal, _ := os.ReadFile(p.Path(".git/entire/forgetting.json"))
				said := p.Entire(c.args...)
				if diff := cmp.Diff(want, forgottenRecords(p)); diff != "" {
					t.Fatalf("stopped at step %d, done again (-want +got):\n%s\n%s\nthe journal was %s", step, diff, said, journal)
				}
				if what == "secrets" {
					data, err := os.ReadFile(log)
					if err != nil || strings.Contains(string(data), secret) {
						t.Fatalf("stopped at step %d, done again: %q, %v", step, data, err)
					}
					if got := p.TryGit("grep", "-q", secret, "entire/checkpoints/v1"); got.Code == 0 {
						t.Fatalf("stopped at step %d, done again: it is in the checkpoints", step)
					}
				}
				copyAll(t, root+".kept", root)
			}
			t.Logf("%d points", points)
			if points < 20 {
				t.Errorf("only %d points", points)
			}
		})
	}
}

// TestCrashForgetInOtherClone stops a fetch and a push that learn of a text that another clone has
// forgotten, at every write, and then does the same again. No object has the text then, the
// checkpoints are there, and the remote has none of the text at any time.
func TestCrashForgetInOtherClone(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	for name, call := range map[string]testkit.Call{
		"fetch": {Name: "entire", Args: []string{"explain", "--fetch", "--no-pager"}},
		"push":  {Name: "git", Args: []string{"push", "-q", "origin", "HEAD:main"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const text = "walrus-4711"
			root := filepath.Join(t.TempDir(), "root")
			p := newPlay(t, root, bin, "plain")
			remote, first := p.At(filepath.Join(root, "remote.git")), p.At(filepath.Join(root, "first"))
			p.Git("init", "-q", "--bare", "-b", "main", remote.Dir)
			p.Git("remote", "add", "origin", remote.Dir)
			p.Write(".entire/settings.local.json", `{"strategy_options": {"push_remote": "origin"}}`)
			s := p.main()
			s.Start("startup")
			turn := func(path string) {
				s.Prompt("About " + text + ".")
				s.Write(path, "content\n")
				s.Stop()
				p.Git("add", path)
				p.Git("commit", "-q", "-m", path)
			}
			turn("a.txt")
			p.Git("push", "-q", "origin", "HEAD:main")
			p.Git("clone", "-q", remote.Dir, first.Dir)
			first.Entire("forget", "--text", text, "--force", "--push", "origin")
			remote.Git("gc", "-q", "--prune=now")
			turn("b.txt")
			p.Git("fetch", "-q")
			call.Dir, call.Env = p.Dir, p.Env
			copyAll(t, root, root+".kept")
			points, mark := 0, filepath.Join(root, "mark")
			for step := 1; ; step++ {
				stopped := call
				stopped.Env = p.Env.With(fmt.Sprintf("ENTIRE_FAULT=crash:%d", step), "ENTIRE_FAULT_MARK="+mark)
				stopped.Run(t)
				if _, err := os.Lstat(mark); err != nil {
					break
				}
				points++
				if objects := remote.Git("cat-file", "--batch-all-objects", "--batch"); strings.Contains(objects, text) {
					t.Errorf("stopped at step %d: the text is at the remote", step)
				}
				p.Git("commit", "-q", "--no-verify", "--allow-empty", "-m", "so that there is something to push")
				call.Must(t)
				p.Git("gc", "-q", "--prune=now")
				if objects := p.Git("cat-file", "--batch-all-objects", "--batch"); strings.Contains(objects, text) {
					t.Errorf("stopped at step %d, done again: the text is in an object", step)
				}
				if n := len(p.Stored()); n != 2 {
					t.Errorf("stopped at step %d: %d checkpoints", step, n)
				}
				copyAll(t, root+".kept", root)
				if t.Failed() {
					return
				}
			}
			t.Logf("%d points", points)
			if points < 10 {
				t.Errorf("only %d points", points)
			}
		})
	}
}

// forgottenRecords lists the data left after forgetting: the refs with their trees, the files
// of the records, and the loose objects that are unreachable.
func forgottenRecords(p *play) []string {
	p.TB.Helper()
	var list []string
	for line := range strings.Lines(p.Git("for-each-ref", "--format=%(refname)", "refs/heads/entire/", "refs/entire/context/")) {
		ref := strings.TrimSpace(line)
		for entry := range strings.Lines(p.Git("ls-tree", ref)) {
			if entry = strings.TrimSpace(entry); strings.HasSuffix(entry, "\tforgotten.json") {
				entry = "the list" // its salt is random
			}
			list = append(list, ref+" "+entry)
		}
	}
	err := filepath.WalkDir(p.Path(".git"), func(path string, e os.DirEntry, err error) error {
		rel, _ := filepath.Rel(p.Path(".git"), path)
		ours := strings.HasPrefix(rel, "entire/") || strings.HasPrefix(rel, "entire-sessions/")
		if err == nil && !e.IsDir() && ours && !strings.Contains(rel, "entire-tmp-") {
			list = append(list, rel)
		}
		return err
	})
	if err != nil {
		p.TB.Fatalf("list records: %v", err)
	}
	var blobs []string
	for line := range strings.Lines(p.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")) {
		if oid, kind, _ := strings.Cut(strings.TrimSpace(line), " "); kind == "blob" {
			blobs = append(blobs, oid)
		}
	}
	for i, content := range p.Objects(blobs) {
		if strings.Contains(string(content), `"sessionId"`) {
			list = append(list, "transcript "+blobs[i])
		}
	}
	slices.Sort(list)
	return list
}
