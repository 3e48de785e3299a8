//go:build faults

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCrashForget stops forgetting at every write, and then runs the same command again. The
// result is the same as without a stop, nothing of the text is left, and no operation is
// unfinished.
func TestCrashForget(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	for _, name := range []string{"session", "text", "before", "file", "session packed", "text packed", "file packed"} {
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
			c := map[string]tidyCase{
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
				copyAll(t, root+".kept", root)
			}
			t.Logf("%d points", points)
			if points < 20 {
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
