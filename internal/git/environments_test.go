package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// environments returns a setup function for each kind of repository. It returns a directory in a
// working tree with the tracked file "a".
func environments() map[string]func(s *gittest.Sandbox) string {
	return map[string]func(s *gittest.Sandbox) string{
		"plain":         func(s *gittest.Sandbox) string { return s.Init("r") },
		"sha256":        func(s *gittest.Sandbox) string { return s.Init("r", "--object-format=sha256") },
		"detached head": func(s *gittest.Sandbox) string { d := s.Init("r"); s.Git(d, "checkout", "-q", "--detach"); return d },
		"subdirectory":  func(s *gittest.Sandbox) string { s.Init("r"); return s.Mkdir("r", "x", "y") },
		"symlinked path": func(s *gittest.Sandbox) string {
			s.Symlink(s.Init("r"), "link")
			return s.Path("link")
		},
		"linked worktree": func(s *gittest.Sandbox) string {
			s.Git(s.Init("r"), "worktree", "add", "-q", s.Path("wt"))
			return s.Path("wt")
		},
		"worktree config and sparse checkout": func(s *gittest.Sandbox) string {
			d := s.Init("r")
			s.Write(d, "out/f", "x")
			s.Git(d, "add", ".")
			s.Git(d, "commit", "-q", "-m", "out")
			s.Git(d, "sparse-checkout", "set", "--cone", "in")
			if _, err := os.Stat(filepath.Join(d, "out")); err == nil {
				s.T.Fatal("not sparse")
			}
			return d
		},
		"sparse index": func(s *gittest.Sandbox) string {
			d := s.Init("r")
			s.Write(d, "out/deep/f", "x")
			s.Git(d, "add", ".")
			s.Git(d, "commit", "-q", "-m", "out")
			s.Git(d, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
			return d
		},
		"separate git dir": func(s *gittest.Sandbox) string { return s.Init("r", "--separate-git-dir="+s.Path("e.git")) },
		"bare with worktrees": func(s *gittest.Sandbox) string {
			s.Git(s.Dir, "clone", "-q", "--bare", s.Init("r"), s.Path("p", ".bare"))
			s.Write(s.Path("p"), ".git", "gitdir: ./.bare\n")
			s.Git(s.Path("p"), "worktree", "add", "-q", s.Path("p", "wt"))
			return s.Path("p", "wt")
		},
		"in a submodule":       func(s *gittest.Sandbox) string { return filepath.Join(s.Superproject(), "sub") },
		"around a submodule":   func(s *gittest.Sandbox) string { return s.Superproject() },
		"shared objects":       func(s *gittest.Sandbox) string { return clone(s, "--shared") },
		"shallow clone":        func(s *gittest.Sandbox) string { return clone(s, "--no-local", "--depth=1") },
		"partial clone":        func(s *gittest.Sandbox) string { return clone(s, "--no-local", "--filter=blob:none") },
		"everything packed":    func(s *gittest.Sandbox) string { d := s.Init("r"); s.Git(d, "gc", "-q"); return d },
		"core.worktree":        otherWorkTree,
		"object dir is a link": movedObjects,
		"no identity and quiet": func(s *gittest.Sandbox) string {
			d := s.Init("r")
			s.Git(d, "config", "core.quotePath", "false")
			return d
		},
		"reftable": func(s *gittest.Sandbox) string {
			d := s.Mkdir("r")
			if _, err := s.Try(d, "", "init", "-q", "--ref-format=reftable"); err != nil {
				s.T.Skip("this git has no reftable")
			}
			return s.Init("r")
		},
	}
}

// clone clones a repository of three commits through the file protocol.
func clone(s *gittest.Sandbox, args ...string) string {
	s.T.Helper()
	origin := s.Init("origin")
	for _, content := range []string{"2\n", "3\n"} {
		s.Write(origin, "old", content)
		s.Git(origin, "add", ".")
		s.Git(origin, "commit", "-q", "-m", content)
	}
	s.Git(origin, "config", "uploadpack.allowFilter", "true")
	s.Git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
	s.Git(s.Dir, append(append([]string{"clone", "-q"}, args...), "file://"+origin, s.Path("clone"))...)
	return s.Path("clone")
}

func otherWorkTree(s *gittest.Sandbox) string {
	s.T.Helper()
	d := s.Init("r")
	s.Write(s.Path("elsewhere"), "a", "a\n")
	s.Git(d, "config", "core.worktree", "../../elsewhere")
	return d
}

func movedObjects(s *gittest.Sandbox) string {
	s.T.Helper()
	d := s.Init("r")
	if err := os.Rename(filepath.Join(d, ".git/objects"), s.Path("objects")); err != nil {
		s.T.Fatal(err)
	}
	s.Symlink(s.Path("objects"), "r/.git/objects")
	return d
}

// TestEveryEnvironment does the work of a turn and a commit in each environment: it hashes changed
// files, edits HEAD's tree, commits it to one of the program's refs, reads it back, and runs git's
// status and diff.
func TestEveryEnvironment(t *testing.T) {
	t.Parallel()
	for name, setup := range testkit.ShortTable(environments(), 5) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := gittest.New(t)
			dir := setup(s)
			ctx := t.Context()
			r := s.Open(dir)
			head := gittest.Must[git.Commit](t)(r.Commit(ctx, "HEAD"))
			s.Write(r.Root, "a", "changed\n")
			s.Write(r.Root, "n/new\n\"file", "new\n")
			if rel, ok := r.Rel(filepath.Join(r.Root, "n", "z")); rel != "n/z" || !ok {
				t.Errorf("Rel gives %q", rel)
			}
			paths := statusPaths(t, r)
			if diff := cmp.Diff([]string{"a", "n/new\n\"file"}, paths); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			oids := gittest.Must[map[string]git.OID](t)(git.HashFiles(ctx, r, git.HashAndStore, paths))
			edits := make([]git.TreeEdit, 0, len(oids))
			for path, oid := range oids {
				edits = append(edits, git.TreeEdit{Path: path, Mode: git.ModeFile, OID: oid})
			}
			tree := gittest.Must[git.OID](t)(git.EditTree(ctx, r, head.Tree, edits))
			oid := gittest.Must[git.OID](t)(r.WriteCommit(git.Commit{Tree: tree, Parents: []git.OID{head.OID}, Message: "shadow\n"}))
			if err := git.UpdateRefs(ctx, r, "shadow", []git.RefChange{{Name: "refs/heads/entire/x", New: oid}}); err != nil {
				t.Fatal(err)
			}
			if err := git.UpdateRefs(ctx, r, "shadow", []git.RefChange{{Name: "refs/heads/entire/x", New: oid}}); !errors.Is(err, git.ErrRefMoved) {
				t.Errorf("a second time: %v", err)
			}
			got := gittest.Must[git.Commit](t)(r.Commit(ctx, "refs/heads/entire/x"))
			changes := gittest.Must[[]git.Change](t)(git.Changes(ctx, r, head.Tree, got.Tree))
			if len(changes) != 2 || changes[0].Path != "a" || changes[1].Status != 'A' {
				t.Errorf("changes %v", changes)
			}
			if staged := gittest.Must[[]git.Change](t)(git.Staged(ctx, r, head.OID)); len(staged) != 0 {
				t.Errorf("staged %v", staged)
			}
			if after := gittest.Must[git.Commit](t)(r.Commit(ctx, "HEAD")); after.OID != head.OID {
				t.Error("HEAD has moved")
			}
			s.Git(dir, "fsck", "--strict", "--no-dangling")
		})
	}
}

func statusPaths(t *testing.T, r *git.Repo) []string {
	t.Helper()
	entries := gittest.Must[[]git.StatusEntry](t)(git.Status(t.Context(), r))
	paths := make([]string, 0, len(entries))
	for _, e := range entries {
		paths = append(paths, e.Path)
	}
	return paths
}

func TestSuperprojectKeepsItsModules(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Superproject()
	r := s.Open(dir)
	head := gittest.Must[git.Commit](t)(r.Commit(t.Context(), "HEAD"))
	module, ok, err := git.LookupPath(t.Context(), r, head.Tree, "sub")
	if err != nil || !ok || module.Mode != git.ModeModule {
		t.Fatalf("%v %v %v", module, ok, err)
	}
	blob := gittest.Must[git.OID](t)(r.WriteBlob([]byte("x")))
	tree := gittest.Must[git.OID](t)(git.EditTree(t.Context(), r, head.Tree, []git.TreeEdit{{Path: "x", Mode: git.ModeFile, OID: blob}}))
	again, ok, err := git.LookupPath(t.Context(), r, tree, "sub")
	if err != nil || !ok || again != module {
		t.Errorf("%v %v %v", again, ok, err)
	}
}

func TestPartialCloneNeverFetches(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := clone(s, "--no-local", "--filter=blob:none")
	r := s.Open(dir)
	if o := gittest.Must[git.Object](t)(r.Read(t.Context(), "HEAD^")); o.Type != "commit" {
		t.Errorf("got %v", o)
	}
	before := s.Git(dir, "count-objects", "-v")
	for range 2 {
		if o, err := r.Read(t.Context(), "HEAD^:old"); !errors.Is(err, git.ErrMissing) {
			t.Errorf("got %q, %v", o.Data, err)
		}
	}
	if o := gittest.Must[git.Object](t)(r.Read(t.Context(), "HEAD:old")); string(o.Data) != "3\n" {
		t.Errorf("got %q", o.Data)
	}
	gittest.Must[[]git.Change](t)(git.Changes(t.Context(), r, "", gittest.Must[git.Commit](t)(r.Commit(t.Context(), "HEAD^")).OID))
	if after := s.Git(dir, "count-objects", "-v"); after != before {
		t.Errorf("fetched:\n%s\n%s", before, after)
	}
}

func TestUnbornBranch(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Mkdir("r")
	s.Git(dir, "init", "-q")
	s.Write(dir, "a", "a")
	s.Git(dir, "add", "a")
	r := s.Open(dir)
	if _, err := r.Commit(t.Context(), "HEAD"); !errors.Is(err, git.ErrMissing) {
		t.Errorf("got %v", err)
	}
	if got := gittest.Must[[]git.Change](t)(git.Staged(t.Context(), r, "")); len(got) != 1 || got[0].Status != 'A' {
		t.Errorf("got %v", got)
	}
	if got := gittest.Must[[]git.StatusEntry](t)(git.Status(t.Context(), r)); len(got) != 1 || got[0].Index != 'A' {
		t.Errorf("got %v", got)
	}
}
