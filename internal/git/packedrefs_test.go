package git_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// Refs are read from packed-refs as git reads them: between the refs of tags and loose ones, in a
// large file, and in one whose header doesn't say that it is sorted.
func TestPackedRefsMatchGit(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		head := s.Git(dir, "rev-parse", "HEAD")
		s.Git(dir, "commit", "-q", "--allow-empty", "-m", "two")
		second := s.Git(dir, "rev-parse", "HEAD")
		var script strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&script, "create refs/entire/checkpoints/%02d/%06d %s\n", i*7919%100, i*7919%3000, head)
		}
		for i := range 50 {
			s.Git(dir, "tag", "-a", "-m", "t", fmt.Sprintf("t%d", i))
		}
		if out, err := s.Try(dir, script.String(), "update-ref", "--stdin"); err != nil {
			t.Fatal(out, err)
		}
		s.Git(dir, "update-ref", "refs/entire/checkpoints2/00/1", head)
		s.Git(dir, "pack-refs", "--all")
		s.Git(dir, "update-ref", "refs/entire/checkpoints/00/000000", second)
		s.Git(dir, "update-ref", "refs/entire/checkpoints/zz/new", second)
		check := func(t *testing.T) {
			r := s.Open(dir)
			for _, prefix := range []string{"refs/entire/checkpoints/", "refs/entire/checkpoints/42/", "refs/entire/", "refs/heads/", "refs/remotes/", "refs/entire/none/"} {
				var got []string
				for _, ref := range gittest.Must[[]git.Ref](t)(git.ListRefs(t.Context(), r, prefix)) {
					got = append(got, string(ref.OID)+" "+ref.Name)
				}
				want := s.Git(dir, "for-each-ref", "--format=%(objectname) %(refname)", prefix)
				if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
					t.Errorf("%s (-git +got):\n%s", prefix, diff)
				}
				for _, line := range got[:min(len(got), 300)] {
					oid, name, _ := strings.Cut(line, " ")
					if found, err := r.ResolveRef(name); err != nil || string(found) != oid {
						t.Errorf("%s: %s, %v; want %s", name, found, err, oid)
					}
				}
				if some := gittest.Must[bool](t)(git.RefsExist(t.Context(), r, prefix)); some != (len(got) > 0) {
					t.Errorf("refs below %s exist: %t", prefix, some)
				}
			}
			for _, name := range []string{"refs/entire/checkpoints/", "refs/entire/checkpoints/42/", "refs/entire/checkpoints/42/00000", "refs/entire/zzz", "refs/heads/a"} {
				if oid, err := r.ResolveRef(name + "x"); !errors.Is(err, git.ErrMissing) {
					t.Errorf("%sx: %q, %v", name, oid, err)
				}
			}
		}
		t.Run("sorted", check)
		path := filepath.Join(dir, ".git", "packed-refs")
		data := gittest.Must[[]byte](t)(os.ReadFile(path))
		_, rest, _ := strings.Cut(string(data), "\n")
		if err := os.WriteFile(path, []byte(rest), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run("unsorted", check)
	})
}
