package git_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIgnored(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("repo")
	s.write(dir, ".gitignore", "build/\n*.o\n!keep.o\n")
	s.write(dir, "build/x", "")
	s.write(dir, "src/build/x", "")
	s.write(dir, "a.o", "")
	s.write(dir, "tracked.o", "")
	s.git(dir, "add", "-f", "tracked.o")
	r := s.open(dir)
	asked := []string{"build", "src", "src/build", "a.o", "keep.o", "tracked.o", ":(top)a.o", "missing\nname.o"}
	got, err := r.Ignored(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"build", "src/build", "a.o", ":(top)a.o", "missing\nname.o"}, got); diff != "" {
		t.Error(diff)
	}
	for _, none := range [][]string{nil, {"src"}} {
		if got, err := r.Ignored(t.Context(), none); err != nil || len(got) > 0 {
			t.Errorf("%v: %q, %v", none, got, err)
		}
	}
}
