package git_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// An object that is small in its compressed form but too large to read is not read to its end, and
// the objects after it are still read.
func TestAttackLargeObjectsAreNotRead(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "an object of 64 MB")
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	write := func(data []byte) git.OID { return gittest.Must[git.OID](t)(r.WriteBlob(data)) }
	first, large, last := write([]byte("first")), write(make([]byte, 64<<20)), write([]byte("last"))
	if err := r.SyncObjects(); err != nil {
		t.Fatal(err)
	}
	s.Git(dir, "update-ref", "refs/keep/1", string(large))
	s.Git(dir, "update-ref", "refs/keep/2", string(first))
	s.Git(dir, "update-ref", "refs/keep/3", string(last))
	for _, place := range []string{"loose", "packed"} {
		if place == "packed" {
			s.Git(dir, "gc", "-q", "--prune=now")
		}
		var got []string
		err := r.ReadMany(t.Context(), []git.OID{first, large, large, last}, func(o git.Object) error {
			got = append(got, string(o.Data))
			return nil
		})
		if err != nil || !slices.Equal(got, []string{"first", "last"}) {
			t.Errorf("%s: %q, %v", place, got, err)
		}
		if o, err := r.ReadWithin(t.Context(), string(large), 1<<20); !errors.Is(err, git.ErrTooMuch) || o.Data != nil {
			t.Errorf("%s: %d bytes, %v", place, len(o.Data), err)
		}
		if o := gittest.Must[git.Object](t)(r.ReadWithin(t.Context(), string(last), 1<<20)); !bytes.Equal(o.Data, []byte("last")) {
			t.Errorf("%s: %q", place, o.Data)
		}
	}
}
