package git_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// files is a naive model of a tree. It maps a path to "mode oid".
type files map[string]string

func (f files) put(path, entry string) {
	for p := range f {
		if strings.HasPrefix(p, path+"/") || strings.HasPrefix(path, p+"/") {
			delete(f, p)
		}
	}
	f[path] = entry
}

func (f files) remove(path string) {
	for p := range f {
		if p == path || strings.HasPrefix(p, path+"/") {
			delete(f, p)
		}
	}
}

// tree lets git build the tree of f from an empty index.
func tree(s *gittest.Sandbox, dir string, f files) string {
	var in strings.Builder
	for _, path := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(&in, "%s\t%s\x00", f[path], path)
	}
	if _, err := s.Try(dir, "", "read-tree", "--empty"); err != nil {
		s.T.Fatal(err)
	}
	if _, err := s.Try(dir, in.String(), "update-index", "-z", "--index-info"); err != nil {
		s.T.Fatal(err)
	}
	return s.Git(dir, "write-tree")
}

func TestEditTreeMatchesGit(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	blobs := []string{s.StoreBlob(dir, "1"), s.StoreBlob(dir, "2")}
	sub := git.OID(tree(s, dir, files{"x": "100644 " + blobs[0], "a/b": "100755 " + blobs[1]}))
	paths := rapid.SampledFrom([]string{
		"a", "a-", "a.b", "a0", "b", "a/a", "a/b", "a/a/a", "a/a/b", "b/a", "b/a/a", "a-/x", "\"q\n", "ä\xff/x", "a/a/a/a",
	})
	rapid.Check(t, func(t *rapid.T) {
		model := files{}
		var root git.OID
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			edits := make([]git.TreeEdit, rapid.IntRange(0, 6).Draw(t, "edits"))
			for i := range edits {
				edits[i] = drawEdit(t, paths, blobs, sub)
				apply(model, edits[i], blobs)
			}
			got, err := git.EditTree(context.Background(), r, root, edits)
			if err != nil {
				t.Fatal(err)
			}
			if want := tree(s, dir, model); string(got) != want {
				t.Fatalf("after %v on %s:\ngit:\n%s\nours:\n%s", edits, root,
					s.Git(dir, "ls-tree", "-r", "-t", want), s.Git(dir, "ls-tree", "-r", "-t", string(got)))
			}
			root = got
		}
	})
	if err := r.SyncObjects(); err != nil {
		t.Fatal(err)
	}
	s.Git(dir, "fsck", "--strict", "--no-dangling")
}

func drawEdit(t *rapid.T, paths *rapid.Generator[string], blobs []string, sub git.OID) git.TreeEdit {
	e := git.TreeEdit{Path: paths.Draw(t, "path")}
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1, 2:
	case 3:
		e.Mode, e.OID = git.ModeTree, sub
	default:
		e.Mode = rapid.SampledFrom([]git.Mode{git.ModeFile, git.ModeExec, git.ModeLink}).Draw(t, "mode")
		e.OID = git.OID(rapid.SampledFrom(blobs).Draw(t, "blob"))
	}
	return e
}

func apply(model files, e git.TreeEdit, blobs []string) {
	switch {
	case e.OID == "":
		model.remove(e.Path)
	case e.Mode == git.ModeTree:
		model.remove(e.Path)
		model.put(e.Path+"/x", "100644 "+blobs[0])
		model.put(e.Path+"/a/b", "100755 "+blobs[1])
	default:
		model.put(e.Path, e.Mode.String()+" "+string(e.OID))
	}
}

func TestEditTreeKeepsOtherEntries(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	ctx := t.Context()
	blob := git.OID(s.StoreBlob(dir, "x"))
	head := git.OID(s.Git(dir, "rev-parse", "HEAD"))
	root := gittest.Must[git.OID](t)(git.EditTree(ctx, r, "", []git.TreeEdit{
		{Path: "sub", Mode: git.ModeModule, OID: head}, {Path: "d/f", Mode: git.ModeFile, OID: blob},
	}))
	same := gittest.Must[git.OID](t)(git.EditTree(ctx, r, root, []git.TreeEdit{
		{Path: "sub/x"}, {Path: "d/f/g"}, {Path: "nothing/here"}, {Path: "d/f", Mode: git.ModeFile, OID: blob},
	}))
	if same != root {
		t.Errorf("changed to %s", s.Git(dir, "ls-tree", "-r", string(same)))
	}
	got := gittest.Must[git.OID](t)(git.EditTree(ctx, r, root, []git.TreeEdit{{Path: "new", Mode: git.ModeLink, OID: blob}, {Path: "d"}}))
	if err := r.SyncObjects(); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("120000 blob %s\tnew\n160000 commit %s\tsub", blob, head)
	if diff := cmp.Diff(want, s.Git(dir, "ls-tree", "-r", string(got))); diff != "" {
		t.Error(diff)
	}
	// A mode that only old versions of git wrote is kept.
	out, err := s.Try(dir, fmt.Sprintf("100664 blob %s\told\n", blob), "mktree")
	if err != nil {
		t.Fatal(err)
	}
	legacy := gittest.Must[git.OID](t)(git.EditTree(ctx, r, git.OID(strings.TrimSpace(out)), []git.TreeEdit{{Path: "n", Mode: git.ModeFile, OID: blob}}))
	entry, ok, err := git.LookupPath(ctx, r, legacy, "old")
	if err != nil || !ok || entry.Mode != 0o100664 {
		t.Errorf("got %v %v %v", entry, ok, err)
	}
}

func TestEditTreeRefusesBadPaths(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := s.Open(s.Init("r"))
	blob := gittest.Must[git.OID](t)(r.WriteBlob(nil))
	for _, path := range []string{"", "/a", "a/", "a//b", "../a", "a/../b", ".git/config", "a/.GIT", "a\x00"} {
		for _, oid := range []git.OID{blob, ""} {
			_, err := git.EditTree(t.Context(), r, "", []git.TreeEdit{{Path: path, Mode: git.ModeFile, OID: oid}})
			if !errors.Is(err, git.ErrBadPath) {
				t.Errorf("%q: %v", path, err)
			}
		}
	}
	if _, err := git.EditTree(t.Context(), r, git.OID(strings.Repeat("1", 40)), []git.TreeEdit{{Path: "a"}}); !errors.Is(err, git.ErrMissing) {
		t.Errorf("got %v", err)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	super := s.Superproject()
	s.Write(super, "d/e/f", "x")
	s.Git(super, "add", "d")
	s.Git(super, "commit", "-q", "-m", "d")
	r := s.Open(super)
	tree := git.OID(s.Git(super, "rev-parse", "HEAD^{tree}"))
	for path, mode := range map[string]git.Mode{
		"a": git.ModeFile, "d": git.ModeTree, "d/e/f": git.ModeFile, "sub": git.ModeModule,
		"": 0, "x": 0, "a/x": 0, "sub/a": 0, "d/e/f/g": 0, "d//e": 0, "d/": 0,
	} {
		got, ok, err := git.LookupPath(t.Context(), r, tree, path)
		if err != nil || ok != (mode != 0) || got.Mode != mode {
			t.Errorf("%q: %v %v %v", path, got, ok, err)
		}
		if ok && string(got.OID) != s.Git(super, "rev-parse", "HEAD:"+path) {
			t.Errorf("%q: %s", path, got.OID)
		}
	}
}
