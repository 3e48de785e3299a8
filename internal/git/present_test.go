package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

func TestKeepFreshensALooseObject(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := s.Open(s.Init("repo"))
	oid := gittest.Must[git.OID](t)(r.WriteBlob([]byte("kept\n")))
	if err := r.SyncObjects(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.CommonDir, "objects", string(oid[:2]), string(oid[2:]))
	old := time.Unix(1_600_000_000, 0)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	if !r.Loose.Keep(oid) {
		t.Error("it isn't there")
	}
	s.Git(r.Root, "prune", "--expire=1.hour.ago")
	if !r.Loose.Keep(oid) {
		t.Error("prune took it")
	}
	s.Git(r.Root, "prune", "--expire=now")
	if r.Loose.Keep(oid) || r.Loose.Keep("nonsense") {
		t.Error("what isn't there is kept")
	}
}

// TestMissingInPartialClone checks that no git process is started for an object that a partial clone
// lacks, and that it is read after it was fetched.
func TestMissingInPartialClone(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	origin := s.Init("origin")
	s.Git(origin, "config", "uploadpack.allowFilter", "true")
	s.Git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
	s.Write(origin, "d/b", "b\n")
	s.Git(origin, "add", "d")
	s.Git(origin, "commit", "-q", "-m", "one")
	s.Git(s.Dir, "clone", "-q", "--no-checkout", "--filter=tree:0", "file://"+origin, s.Path("part"))
	r := s.Open(s.Path("part"))
	if partial, err := r.IsPartial(); err != nil || !partial {
		t.Fatal(partial, err)
	}
	tree, blob := git.OID(s.Git(origin, "rev-parse", "HEAD^{tree}")), git.OID(s.Git(origin, "rev-parse", "HEAD:d/b"))
	before := r.Processes()
	for _, name := range []string{string(tree), string(blob), "HEAD:d/b"} {
		if _, err := r.Read(t.Context(), name); !errors.Is(err, git.ErrMissing) {
			t.Errorf("%s: %v", name, err)
		}
	}
	err := r.ReadMany(t.Context(), []git.OID{tree, blob}, func(o git.Object) error { t.Errorf("read %s", o.OID); return nil })
	if err != nil || r.Processes() != before {
		t.Errorf("%d processes, %v", r.Processes()-before, err)
	}
	if err := git.FetchObjects(t.Context(), r, "origin", []git.OID{blob}); err != nil {
		t.Fatal(err)
	}
	if got := gittest.Must[git.Object](t)(r.Read(t.Context(), string(blob))); string(got.Data) != "b\n" {
		t.Errorf("%q", got.Data)
	}
	if err := r.ReadLazily(); err != nil {
		t.Fatal(err)
	}
	if got := gittest.Must[git.Object](t)(r.Read(t.Context(), string(tree))); got.Type != "tree" {
		t.Errorf("%+v", got)
	}
}
