package git_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

func TestAbsent(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := s.Open(s.Init("repo"))
	here, nowhere := gittest.Must[git.OID](t)(r.WriteBlob([]byte("here"))), r.Format.HashBlob([]byte("nowhere"))
	got := gittest.Must[[]git.OID](t)(git.MissingObjects(t.Context(), r, []git.OID{here, nowhere, nowhere}))
	if diff := cmp.Diff([]git.OID{nowhere, nowhere}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := git.MissingObjects(t.Context(), r, []git.OID{"HEAD"}); err == nil {
		t.Error("a name was taken for an id")
	}
	if got := gittest.Must[[]git.OID](t)(git.MissingObjects(t.Context(), r, nil)); got != nil {
		t.Errorf("of nothing %v is absent", got)
	}
}
