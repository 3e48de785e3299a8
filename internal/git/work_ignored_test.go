package git_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

func TestIgnored(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("repo")
	s.Write(dir, ".gitignore", "build/\n*.o\n!keep.o\n")
	s.Write(dir, "build/x", "")
	s.Write(dir, "src/build/x", "")
	s.Write(dir, "a.o", "")
	s.Write(dir, "tracked.o", "")
	s.Git(dir, "add", "-f", "tracked.o")
	r := s.Open(dir)
	asked := []string{"build", "src", "src/build", "a.o", "keep.o", "tracked.o", ":(top)a.o", "missing\nname.o"}
	got, err := git.IgnoredPaths(t.Context(), r, asked)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"build", "src/build", "a.o", ":(top)a.o", "missing\nname.o"}, got); diff != "" {
		t.Error(diff)
	}
	for _, none := range [][]string{nil, {"src"}} {
		if got, err := git.IgnoredPaths(t.Context(), r, none); err != nil || len(got) > 0 {
			t.Errorf("%v: %q, %v", none, got, err)
		}
	}
}
