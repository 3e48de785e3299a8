package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// TestReadMatchesGit reads objects that are loose, packed, replaced or missing, and compares them
// with git's.
func TestReadMatchesGit(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		s.Write(dir, "file", strings.Repeat("text\n", 10_000))
		s.Write(dir, "dir/below/deep", "deep\n")
		s.Git(dir, "add", "-A")
		s.Git(dir, "commit", "-qm", "packed")
		s.Git(dir, "branch", "packed")
		s.Git(dir, "update-ref", "refs/remotes/origin/far", "HEAD")
		s.Git(dir, "update-ref", "refs/entire/context/one", "HEAD")
		s.Git(dir, "gc", "-q")
		s.Write(dir, "file", "changed")
		s.Git(dir, "commit", "-qam", "loose")
		s.Git(dir, "branch", "loose")
		s.Git(dir, "tag", "-am", "tagged", "tag")
		s.Git(dir, "update-ref", "refs/heads/tagged", "refs/tags/tag^{commit}")
		s.Git(dir, "symbolic-ref", "refs/heads/symbolic", "refs/heads/loose")
		s.Git(dir, "symbolic-ref", "refs/heads/loop", "refs/heads/loop")
		s.Git(dir, "symbolic-ref", "refs/heads/dangling", "refs/heads/none")
		linked := filepath.Join(filepath.Dir(dir), "linked")
		s.Git(dir, "worktree", "add", "-q", linked, "packed")
		specs := []string{
			"HEAD", "HEAD^{commit}", "HEAD^{tree}", "HEAD:file", ":file", "loose", "tag", "tag^{commit}", "nothing",
			"refs/heads/packed^{commit}", "refs/heads/loose^{commit}", "refs/heads/symbolic", "refs/heads/loop",
			"refs/heads/dangling^{commit}", "refs/heads/none", "refs/heads", "refs/heads/", "refs/heads/../../HEAD", "refs/tags/tag",
			"refs/heads/loose^{tree}", "refs/heads/loose~1", "refs/entire/context/one^{commit}", "refs/entire/context/two^{commit}", "refs/remotes/origin/far^{commit}", "refs/remotes/origin/none^{commit}",
			"HEAD:dir", "HEAD:dir/below/deep", "packed:dir/below/deep", "refs/heads/packed:dir/below", "refs/heads/loose:file", "HEAD:dir/none", "HEAD:none/deep", "HEAD:file/deep",
			"HEAD:./file", "HEAD:dir/../file", "HEAD:dir/", "HEAD:", "HEAD:.", "HEAD:/file", "refs/tags/tag:file", "refs/heads/none:file", "HEAD:dir:file",
			s.Git(dir, "rev-parse", "HEAD") + ":file", s.Git(dir, "rev-parse", "HEAD^{tree}") + ":dir/below/deep", s.Git(dir, "rev-parse", "HEAD:file") + ":file",
			s.Git(dir, "rev-parse", "HEAD"), s.Git(dir, "rev-parse", "HEAD^{tree}") + "^{commit}", s.Git(dir, "rev-parse", "tag"),
			s.Git(dir, "rev-parse", "tag") + "^{commit}", s.Git(dir, "rev-parse", "packed:file"), strings.Repeat("1", len(s.Git(dir, "rev-parse", "HEAD"))),
		}
		sameReads(t, s, dir, specs)
		sameReads(t, s, linked, specs)
		s.Git(dir, "checkout", "-q", "--detach", "loose")
		sameReads(t, s, dir, specs)
		s.Git(dir, "pack-refs", "--all")
		sameReads(t, s, dir, specs)
		s.Git(dir, "replace", "loose", "packed")
		sameReads(t, s, dir, specs)
		s.Git(dir, "pack-refs", "--all")
		sameReads(t, s, dir, specs)
	})
}

// sameReads compares reads of the repository's files with reads by the git process alone.
func sameReads(t *testing.T, s *gittest.Sandbox, dir string, specs []string) {
	t.Helper()
	files, process := s.Open(dir), s.Open(dir)
	git.OnlyProcess(process)
	for _, spec := range specs {
		want, wantErr := process.Read(t.Context(), spec)
		got, err := files.Read(t.Context(), spec)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-git +files):\n%s", spec, diff)
		}
		if errors.Is(wantErr, git.ErrMissing) != errors.Is(err, git.ErrMissing) || (wantErr == nil) != (err == nil) {
			t.Errorf("%s: %v, git: %v", spec, err, wantErr)
		}
	}
	if files.Processes() > 1 {
		t.Errorf("%d processes", files.Processes())
	}
}

func TestLooseObjectsAreReadWithoutAProcess(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		r := s.Open(dir)
		head := gittest.Must[git.Object](t)(r.Read(t.Context(), "HEAD^{commit}"))
		gittest.Must[git.Object](t)(r.Read(t.Context(), string(head.OID)))
		if _, err := r.Read(t.Context(), "refs/remotes/origin/none^{commit}"); !errors.Is(err, git.ErrMissing) {
			t.Error(err)
		}
		if _, err := r.ReadWithin(t.Context(), "HEAD", 10); !errors.Is(err, git.ErrTooMuch) {
			t.Error(err)
		}
		if n := r.Processes(); n != 0 {
			t.Errorf("%d processes", n)
		}
	})
}

// TestDamagedLooseObjects reads files that don't contain the object of their name, which are left
// to the git process.
//
//nolint:tparallel // the cases damage the same object
func TestDamagedLooseObjects(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	oid := s.Git(dir, "rev-parse", "HEAD")
	path := filepath.Join(dir, ".git", "objects", oid[:2], oid[2:])
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "cut": whole[:len(whole)/2], "no checksum": whole[:len(whole)-4], "text": []byte("not compressed"),
	} {
		t.Run(name, func(t *testing.T) {
			if err := errors.Join(os.Remove(path), os.WriteFile(path, data, 0o600)); err != nil {
				t.Fatal(err)
			}
			r := s.Open(dir)
			if o, err := r.Read(t.Context(), oid); err == nil && name != "no checksum" {
				t.Errorf("%d bytes were read", len(o.Data))
			}
			if r.Processes() == 0 {
				t.Error("git wasn't asked")
			}
		})
	}
}
