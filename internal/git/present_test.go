package git_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitobject"
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
	if !r.Keep(oid) {
		t.Error("it isn't there")
	}
	s.Git(r.Root, "prune", "--expire=1.hour.ago")
	if !r.Keep(oid) {
		t.Error("prune took it")
	}
	s.Git(r.Root, "prune", "--expire=now")
	if r.Keep(oid) || r.Keep("nonsense") {
		t.Error("what isn't there is kept")
	}
}

func TestAbsent(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := s.Open(s.Init("repo"))
	here, nowhere := gittest.Must[git.OID](t)(r.WriteBlob([]byte("here"))), r.Format.HashBlob([]byte("nowhere"))
	got := gittest.Must[[]git.OID](t)(gitobject.Absent(t.Context(), r, []git.OID{here, nowhere, nowhere}))
	if diff := cmp.Diff([]git.OID{nowhere, nowhere}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := gitobject.Absent(t.Context(), r, []git.OID{"HEAD"}); err == nil {
		t.Error("a name was taken for an id")
	}
	if got := gittest.Must[[]git.OID](t)(gitobject.Absent(t.Context(), r, nil)); got != nil {
		t.Errorf("of nothing %v is absent", got)
	}
}
