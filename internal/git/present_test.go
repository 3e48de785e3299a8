package git_test

import (
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
