package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Superproject()
	s.Write(dir, ".gitignore", "ignored\n")
	for _, name := range []string{"d/changed", "d/deleted", "staged", "old name", "typed"} {
		s.Write(dir, name, name+"\n")
	}
	s.Git(dir, "add", ".")
	s.Git(dir, "commit", "-q", "-m", "more")
	s.Git(dir, "config", "status.showUntrackedFiles", "no")
	s.Git(dir, "config", "status.relativePaths", "true")
	s.Git(dir, "config", "status.branch", "true")
	s.Git(dir, "config", "status.short", "true")
	s.Git(dir, "config", "color.status", "always")
	s.Write(dir, "d/changed", "2")
	s.Write(dir, "staged", "2")
	s.Write(dir, "added", "2")
	s.Git(dir, "mv", "old name", "new name")
	s.Git(dir, "add", "staged", "added")
	s.Write(dir, "ignored", "x")
	s.Write(dir, "sub/untracked", "x")
	s.Write(dir, "sub/a", "changed inside")
	s.Init("super/nested")
	if err := os.Remove(filepath.Join(dir, "d/deleted")); err != nil {
		t.Fatal(err)
	}
	want := make([]git.StatusEntry, 0, 7+len(gittest.OddNames()))
	want = append(want, []git.StatusEntry{
		{Index: 'A', Worktree: ' ', Path: "added"},
		{Index: ' ', Worktree: 'M', Path: "d/changed"},
		{Index: ' ', Worktree: 'D', Path: "d/deleted"},
		{Index: 'A', Worktree: ' ', Path: "new name"},
		{Index: 'D', Worktree: ' ', Path: "old name"},
		{Index: 'M', Worktree: ' ', Path: "staged"},
		{Index: '?', Worktree: '?', Path: "nested/"},
	}...)
	for _, name := range gittest.OddNames() {
		s.Write(dir, "new/"+name, "x")
		want = append(want, git.StatusEntry{Index: '?', Worktree: '?', Path: "new/" + name})
	}
	slices.SortFunc(want, comparePaths)
	for _, from := range []string{dir, filepath.Join(dir, "d")} {
		r := s.Open(from)
		got := gittest.Must[[]git.StatusEntry](t)(git.Status(t.Context(), r))
		slices.SortFunc(got, comparePaths)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("from %s (-want +got):\n%s", from, diff)
		}
	}
}

func comparePaths(a, b git.StatusEntry) int { return strings.Compare(a.Path, b.Path) }

func TestStatusOfPathsTakesThemLiterally(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	for _, name := range gittest.OddNames() {
		s.Write(dir, name, "x")
	}
	r := s.Open(dir)
	all := gittest.Must[[]git.StatusEntry](t)(git.Status(t.Context(), r))
	for _, name := range gittest.OddNames() {
		got := gittest.Must[[]git.StatusEntry](t)(git.Status(t.Context(), r, name))
		if diff := cmp.Diff([]git.StatusEntry{{Index: '?', Worktree: '?', Path: name}}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
	if got := gittest.Must[[]git.StatusEntry](t)(git.Status(t.Context(), r, "a", "absent", "dir with space")); len(got) != 1 {
		t.Errorf("got %v", got)
	}
	// More paths than fit on a command line.
	many := make([]string, 0, 100_002)
	many = append(many, "dir with space/", "plain")
	for i := range 100_000 {
		many = append(many, fmt.Sprintf("some/long/path/to/an/absent/file/%d", i))
	}
	got := gittest.Must[[]git.StatusEntry](t)(git.Status(t.Context(), r, many...))
	want := slices.DeleteFunc(all, func(e git.StatusEntry) bool {
		return e.Path != "plain" && !strings.HasPrefix(e.Path, "dir with space/")
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("many (-want +got):\n%s", diff)
	}
}

func TestStagedAndChanges(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		for _, name := range []string{"exec", "gone", "typed", "moved"} {
			s.Write(dir, name, "long enough to be found as a rename of "+name+"\n")
		}
		s.Git(dir, "add", ".")
		s.Git(dir, "commit", "-q", "-m", "base")
		base := git.OID(s.Git(dir, "rev-parse", "HEAD"))
		s.Git(dir, "config", "diff.renames", "copies")
		s.Git(dir, "config", "diff.noprefix", "true")
		s.Git(dir, "config", "core.abbrev", "5")
		s.Git(dir, "update-index", "--chmod=+x", "exec")
		s.Git(dir, "rm", "-q", "gone", "typed")
		s.Git(dir, "mv", "moved", "new\n\"name ")
		s.Symlink("a", "r/typed")
		s.Write(dir, "a", "changed")
		s.Git(dir, "add", "typed", "a")
		s.Git(dir, "update-index", "--add", "--cacheinfo", "160000,"+string(base)+",module")
		s.Write(dir, "a", "not staged")
		r := s.Open(dir)
		id := func(spec string) git.OID { return git.OID(s.Git(dir, "rev-parse", spec)) }
		want := []git.Change{
			{Path: "a", Status: 'M', OldMode: git.ModeFile, NewMode: git.ModeFile, Old: id("HEAD:a"), New: id(":a")},
			{Path: "exec", Status: 'M', OldMode: git.ModeFile, NewMode: git.ModeExec, Old: id("HEAD:exec"), New: id(":exec")},
			{Path: "gone", Status: 'D', OldMode: git.ModeFile, Old: id("HEAD:gone")},
			{Path: "module", Status: 'A', NewMode: git.ModeModule, New: base},
			{Path: "moved", Status: 'D', OldMode: git.ModeFile, Old: id("HEAD:moved")},
			{Path: "new\n\"name ", Status: 'A', NewMode: git.ModeFile, New: id("HEAD:moved")},
			{Path: "typed", Status: 'T', OldMode: git.ModeFile, NewMode: git.ModeLink, Old: id("HEAD:typed"), New: id(":typed")},
		}
		if diff := cmp.Diff(want, gittest.Must[[]git.Change](t)(git.Staged(t.Context(), r, base))); diff != "" {
			t.Errorf("Staged (-want +got):\n%s", diff)
		}
		s.Git(dir, "commit", "-q", "-m", "next")
		next := id("HEAD")
		if diff := cmp.Diff(want, gittest.Must[[]git.Change](t)(git.Changes(t.Context(), r, base, next))); diff != "" {
			t.Errorf("Changes (-want +got):\n%s", diff)
		}
		if got := gittest.Must[[]git.Change](t)(git.Changes(t.Context(), r, next, next)); len(got) != 0 {
			t.Errorf("got %v", got)
		}
		for name, got := range map[string][]git.Change{
			"Staged":  gittest.Must[[]git.Change](t)(git.Staged(t.Context(), r, "")),
			"Changes": gittest.Must[[]git.Change](t)(git.Changes(t.Context(), r, "", next)),
		} {
			if len(got) != 5 || got[0].Status != 'A' {
				t.Errorf("%s from nothing: %v", name, got)
			}
		}
		if got := gittest.Must[[]git.Change](t)(git.Changes(t.Context(), r, next, "")); len(got) != 5 || got[0].Status != 'D' {
			t.Errorf("to nothing: %v", got)
		}
		if _, err := git.Changes(t.Context(), r, "--help", next); err == nil {
			t.Error("an option was taken for an id")
		}
	})
}

func TestStagedUsesTheIndexOfTheCommit(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	s.Write(dir, "b", "b")
	s.Git(dir, "add", "b")
	head := git.OID(s.Git(dir, "rev-parse", "HEAD"))
	s.Git(dir, "read-tree", "--index-output=.git/other", "HEAD")
	s.Git(dir, "add", "b")
	env := slices.Concat(s.Env, []string{"GIT_INDEX_FILE=.git/other"})
	for hook, want := range map[bool]int{true: 0, false: 1} {
		r := gittest.Must[*git.Repo](t)(git.Discover(git.Locate{Dir: dir, Environ: env, Hook: hook}))
		if got := gittest.Must[[]git.Change](t)(git.Staged(t.Context(), r, head)); len(got) != want {
			t.Errorf("hook %v: %v", hook, got)
		}
		if got := gittest.Must[[]git.StatusEntry](t)(git.Status(t.Context(), r)); len(got) != 1 {
			t.Errorf("hook %v: status %v", hook, got)
		}
	}
}
