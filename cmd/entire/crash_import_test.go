//go:build faults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestCrashImport stops an import, its undo and its sharing at every write. The repository is intact
// then, and the same command completes: the records are those without a stop.
func TestCrashImport(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	for name, c := range map[string]struct {
		before []string // a command that completes before
		args   []string
		least  int // steps
	}{
		"import":            {args: []string{"import"}, least: 20},
		"import of more":    {before: []string{"import", "--session", testkit.UUID("session", "past session 0")}, args: []string{"import"}, least: 20},
		"undo":              {before: []string{"import"}, args: []string{"import", "--undo"}, least: 2},
		"share":             {before: []string{"import"}, args: []string{"import", "--share"}, least: 2},
		"undo after a part": {before: []string{"import", "--session", testkit.UUID("session", "past session 1")}, args: []string{"import", "--undo"}, least: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newImportScene(t, filepath.Join(t.TempDir(), "root"), bin+string(os.PathListSeparator)+systemPath(), nil)
			if help := s.Entire("import", "--help"); len(c.args) > 1 && !strings.Contains(help, c.args[1]) {
				t.Skipf("this version has no %s", c.args[1])
			}
			run := func(args []string, env ...string) testkit.Result {
				call := testkit.Call{Dir: s.Dir, Name: "entire", Args: args, Env: s.Env.Without("GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE").With(env...)}
				return call.Run(t)
			}
			must := func(args []string, where string) {
				if result := run(args); result.Code != 0 {
					t.Fatalf("%s: %s: exit %d\n%s%s", where, strings.Join(args, " "), result.Code, result.Stdout, result.Stderr)
				}
			}
			if c.before != nil {
				must(c.before, "before")
			}
			copyAll(t, s.root, s.root+".kept")
			must(c.args, "without a stop")
			want := s.records()
			copyAll(t, s.root+".kept", s.root)
			points, mark := 0, filepath.Join(s.root, "mark")
			for step := 1; ; step++ {
				run(c.args, fmt.Sprintf("ENTIRE_FAULT=crash:%d", step), "ENTIRE_FAULT_IN="+c.args[0], "ENTIRE_FAULT_MARK="+mark)
				if _, err := os.Lstat(mark); err != nil {
					break
				}
				points++
				where := fmt.Sprintf("stopped at step %d", step)
				s.Entire("blame", "--json", "c.txt")
				s.Git("fsck", "--connectivity-only", "--no-dangling")
				must([]string{"doctor"}, where)
				must(c.args, where)
				if diff := cmp.Diff(want, s.records()); diff != "" {
					t.Fatalf("%s, done again (-want +got):\n%s", where, diff)
				}
				copyAll(t, s.root+".kept", s.root)
			}
			t.Logf("%d points", points)
			if points < c.least {
				t.Errorf("only %d points", points)
			}
		})
	}
}
