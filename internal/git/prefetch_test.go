package git_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestReadManySkipsMissing(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "10,000 objects")
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	small, other := git.OID(s.StoreBlob(dir, "small")), git.OID(s.StoreBlob(dir, "other"))
	large := git.OID(s.StoreBlob(dir, strings.Repeat("x", 1<<20+1)))
	gone := git.OID(strings.Repeat("1", 40))
	asked := []git.OID{other, gone, large, small, other}
	for range 10_000 { // more than fits in a pipe
		asked = append(asked, small)
	}
	var got []string
	err := r.ReadMany(t.Context(), asked, func(o git.Object) error {
		got = append(got, o.Type+" "+string(o.Data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 10_003 {
		t.Fatalf("%d objects", len(got))
	}
	if diff := cmp.Diff([]string{"blob other", "blob small", "blob other", "blob small"}, got[:4]); diff != "" {
		t.Error(diff)
	}
	stop := errors.New("stop")
	if err := r.ReadMany(t.Context(), asked, func(git.Object) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func TestPrefetchedTreesAreReadWithoutGit(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	tree := git.OID(s.Git(dir, "rev-parse", "HEAD^{tree}"))
	if err := r.PrefetchTrees(t.Context(), []git.OID{tree, tree, git.OID(strings.Repeat("1", 40))}); err != nil {
		t.Fatal(err)
	}
	started := r.Processes()
	if entries := gittest.Must[[]git.TreeEntry](t)(r.Tree(t.Context(), tree)); len(entries) == 0 {
		t.Error("no entries")
	}
	if n := r.Processes(); n != started {
		t.Errorf("%d more processes", n-started)
	}
}
