package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
)

// environments are the kinds of repositories that exist. Each gives a directory
// in a working tree with the tracked file "a".
func environments() map[string]func(s *sandbox) string {
	return map[string]func(s *sandbox) string{
		"plain":         func(s *sandbox) string { return s.init("r") },
		"sha256":        func(s *sandbox) string { return s.init("r", "--object-format=sha256") },
		"detached head": func(s *sandbox) string { d := s.init("r"); s.git(d, "checkout", "-q", "--detach"); return d },
		"subdirectory":  func(s *sandbox) string { s.init("r"); return s.mkdir("r", "x", "y") },
		"symlinked path": func(s *sandbox) string {
			s.symlink(s.init("r"), "link")
			return s.path("link")
		},
		"linked worktree": func(s *sandbox) string {
			s.git(s.init("r"), "worktree", "add", "-q", s.path("wt"))
			return s.path("wt")
		},
		"worktree config and sparse checkout": func(s *sandbox) string {
			d := s.init("r")
			s.write(d, "out/f", "x")
			s.git(d, "add", ".")
			s.git(d, "commit", "-q", "-m", "out")
			s.git(d, "sparse-checkout", "set", "--cone", "in")
			if _, err := os.Stat(filepath.Join(d, "out")); err == nil {
				s.t.Fatal("not sparse")
			}
			return d
		},
		"sparse index": func(s *sandbox) string {
			d := s.init("r")
			s.write(d, "out/deep/f", "x")
			s.git(d, "add", ".")
			s.git(d, "commit", "-q", "-m", "out")
			s.git(d, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
			return d
		},
		"separate git dir": func(s *sandbox) string { return s.init("r", "--separate-git-dir="+s.path("e.git")) },
		"bare with worktrees": func(s *sandbox) string {
			s.git(s.dir, "clone", "-q", "--bare", s.init("r"), s.path("p", ".bare"))
			s.write(s.path("p"), ".git", "gitdir: ./.bare\n")
			s.git(s.path("p"), "worktree", "add", "-q", s.path("p", "wt"))
			return s.path("p", "wt")
		},
		"in a submodule":        func(s *sandbox) string { return filepath.Join(s.superproject(), "sub") },
		"around a submodule":    func(s *sandbox) string { return s.superproject() },
		"shared objects":        func(s *sandbox) string { return s.clone("--shared") },
		"shallow clone":         func(s *sandbox) string { return s.clone("--no-local", "--depth=1") },
		"partial clone":         func(s *sandbox) string { return s.clone("--no-local", "--filter=blob:none") },
		"everything packed":     func(s *sandbox) string { d := s.init("r"); s.git(d, "gc", "-q"); return d },
		"core.worktree":         func(s *sandbox) string { return s.elsewhere() },
		"object dir is a link":  func(s *sandbox) string { return s.movedObjects() },
		"no identity and quiet": func(s *sandbox) string { d := s.init("r"); s.git(d, "config", "core.quotePath", "false"); return d },
		"reftable": func(s *sandbox) string {
			d := s.mkdir("r")
			if _, err := s.try(d, "", "init", "-q", "--ref-format=reftable"); err != nil {
				s.t.Skip("this git has no reftable")
			}
			return s.init("r")
		},
	}
}

// clone clones a repository of three commits through the file protocol.
func (s *sandbox) clone(args ...string) string {
	s.t.Helper()
	origin := s.init("origin")
	for _, content := range []string{"2\n", "3\n"} {
		s.write(origin, "old", content)
		s.git(origin, "add", ".")
		s.git(origin, "commit", "-q", "-m", content)
	}
	s.git(origin, "config", "uploadpack.allowFilter", "true")
	s.git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
	s.git(s.dir, append(append([]string{"clone", "-q"}, args...), "file://"+origin, s.path("clone"))...)
	return s.path("clone")
}

func (s *sandbox) elsewhere() string {
	s.t.Helper()
	d := s.init("r")
	s.write(s.path("elsewhere"), "a", "a\n")
	s.git(d, "config", "core.worktree", "../../elsewhere")
	return d
}

func (s *sandbox) movedObjects() string {
	s.t.Helper()
	d := s.init("r")
	if err := os.Rename(filepath.Join(d, ".git/objects"), s.path("objects")); err != nil {
		s.t.Fatal(err)
	}
	s.symlink(s.path("objects"), "r/.git/objects")
	return d
}

// TestEveryEnvironment does in each what a turn and a commit do: hash changed
// files, edit HEAD's tree, commit it to a ref of ours, read it back, and ask git
// for status and differences.
func TestEveryEnvironment(t *testing.T) {
	t.Parallel()
	for name, setup := range environments() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			dir := setup(s)
			ctx := t.Context()
			r := s.open(dir)
			head := must[git.Commit](t)(r.Commit(ctx, "HEAD"))
			s.write(r.Root, "a", "changed\n")
			s.write(r.Root, "n/new\n\"file", "new\n")
			if rel, ok := r.Rel(filepath.Join(r.Root, "n", "z")); rel != "n/z" || !ok {
				t.Errorf("Rel gives %q", rel)
			}
			paths := statusPaths(t, r)
			if diff := cmp.Diff([]string{"a", "n/new\n\"file"}, paths); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			oids := must[map[string]git.OID](t)(r.HashFiles(ctx, git.HashAndStore, paths))
			edits := make([]git.Edit, 0, len(oids))
			for path, oid := range oids {
				edits = append(edits, git.Edit{Path: path, Mode: git.ModeFile, OID: oid})
			}
			tree := must[git.OID](t)(r.EditTree(ctx, head.Tree, edits))
			oid := must[git.OID](t)(r.WriteCommit(git.Commit{Tree: tree, Parents: []git.OID{head.OID}, Message: "shadow\n"}))
			if err := r.UpdateRefs(ctx, "shadow", []git.RefUpdate{{Name: "refs/heads/entire/x", New: oid}}); err != nil {
				t.Fatal(err)
			}
			if err := r.UpdateRefs(ctx, "shadow", []git.RefUpdate{{Name: "refs/heads/entire/x", New: oid}}); !errors.Is(err, git.ErrRefMoved) {
				t.Errorf("a second time: %v", err)
			}
			got := must[git.Commit](t)(r.Commit(ctx, "refs/heads/entire/x"))
			changes := must[[]git.Change](t)(r.Changes(ctx, head.Tree, got.Tree))
			if len(changes) != 2 || changes[0].Path != "a" || changes[1].Status != 'A' {
				t.Errorf("changes %v", changes)
			}
			if staged := must[[]git.Change](t)(r.Staged(ctx, head.OID)); len(staged) != 0 {
				t.Errorf("staged %v", staged)
			}
			if after := must[git.Commit](t)(r.Commit(ctx, "HEAD")); after.OID != head.OID {
				t.Error("HEAD has moved")
			}
			s.git(dir, "fsck", "--strict", "--no-dangling")
		})
	}
}

func statusPaths(t *testing.T, r *git.Repo) []string {
	t.Helper()
	entries := must[[]git.StatusEntry](t)(r.Status(t.Context()))
	paths := make([]string, 0, len(entries))
	for _, e := range entries {
		paths = append(paths, e.Path)
	}
	return paths
}

func TestSuperprojectKeepsItsModules(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.superproject()
	r := s.open(dir)
	head := must[git.Commit](t)(r.Commit(t.Context(), "HEAD"))
	module, ok, err := r.Lookup(t.Context(), head.Tree, "sub")
	if err != nil || !ok || module.Mode != git.ModeModule {
		t.Fatalf("%v %v %v", module, ok, err)
	}
	blob := must[git.OID](t)(r.WriteBlob([]byte("x")))
	tree := must[git.OID](t)(r.EditTree(t.Context(), head.Tree, []git.Edit{{Path: "x", Mode: git.ModeFile, OID: blob}}))
	again, ok, err := r.Lookup(t.Context(), tree, "sub")
	if err != nil || !ok || again != module {
		t.Errorf("%v %v %v", again, ok, err)
	}
}

func TestAPartialCloneNeverFetches(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.clone("--no-local", "--filter=blob:none")
	r := s.open(dir)
	if o := must[git.Object](t)(r.Read(t.Context(), "HEAD^")); o.Type != "commit" {
		t.Errorf("got %v", o)
	}
	before := s.git(dir, "count-objects", "-v")
	for range 2 {
		if o, err := r.Read(t.Context(), "HEAD^:old"); !errors.Is(err, git.ErrMissing) {
			t.Errorf("got %q, %v", o.Data, err)
		}
	}
	if o := must[git.Object](t)(r.Read(t.Context(), "HEAD:old")); string(o.Data) != "3\n" {
		t.Errorf("got %q", o.Data)
	}
	must[[]git.Change](t)(r.Changes(t.Context(), "", must[git.Commit](t)(r.Commit(t.Context(), "HEAD^")).OID))
	if after := s.git(dir, "count-objects", "-v"); after != before {
		t.Errorf("fetched:\n%s\n%s", before, after)
	}
}

func TestUnbornBranch(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.mkdir("r")
	s.git(dir, "init", "-q")
	s.write(dir, "a", "a")
	s.git(dir, "add", "a")
	r := s.open(dir)
	if _, err := r.Commit(t.Context(), "HEAD"); !errors.Is(err, git.ErrMissing) {
		t.Errorf("got %v", err)
	}
	if got := must[[]git.Change](t)(r.Staged(t.Context(), "")); len(got) != 1 || got[0].Status != 'A' {
		t.Errorf("got %v", got)
	}
	if got := must[[]git.StatusEntry](t)(r.Status(t.Context())); len(got) != 1 || got[0].Index != 'A' {
		t.Errorf("got %v", got)
	}
}
