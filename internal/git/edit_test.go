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
)

// files is a tree as a naive model has it: path to "mode oid".
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

// tree has git build the tree of f, from nothing.
func (s *sandbox) tree(dir string, f files) string {
	var in strings.Builder
	for _, path := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(&in, "%s\t%s\x00", f[path], path)
	}
	if _, err := s.try(dir, "", "read-tree", "--empty"); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.try(dir, in.String(), "update-index", "-z", "--index-info"); err != nil {
		s.t.Fatal(err)
	}
	return s.git(dir, "write-tree")
}

func TestEditTreeEqualsGitsIndex(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	r := s.open(dir)
	blobs := []string{s.hashWrite(dir, "1"), s.hashWrite(dir, "2")}
	sub := git.OID(s.tree(dir, files{"x": "100644 " + blobs[0], "a/b": "100755 " + blobs[1]}))
	paths := rapid.SampledFrom([]string{
		"a", "a-", "a.b", "a0", "b", "a/a", "a/b", "a/a/a", "a/a/b", "b/a", "b/a/a", "a-/x", "\"q\n", "ä\xff/x", "a/a/a/a",
	})
	rapid.Check(t, func(t *rapid.T) {
		model := files{}
		var root git.OID
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			edits := make([]git.Edit, rapid.IntRange(0, 6).Draw(t, "edits"))
			for i := range edits {
				edits[i] = drawEdit(t, paths, blobs, sub)
				apply(model, edits[i], blobs)
			}
			got, err := r.EditTree(context.Background(), root, edits)
			if err != nil {
				t.Fatal(err)
			}
			if want := s.tree(dir, model); string(got) != want {
				t.Fatalf("after %v on %s:\ngit:\n%s\nours:\n%s", edits, root,
					s.git(dir, "ls-tree", "-r", "-t", want), s.git(dir, "ls-tree", "-r", "-t", string(got)))
			}
			root = got
		}
	})
	if err := r.SyncObjects(); err != nil {
		t.Fatal(err)
	}
	s.git(dir, "fsck", "--strict", "--no-dangling")
}

func drawEdit(t *rapid.T, paths *rapid.Generator[string], blobs []string, sub git.OID) git.Edit {
	e := git.Edit{Path: paths.Draw(t, "path")}
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

func apply(model files, e git.Edit, blobs []string) {
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

func (s *sandbox) hashWrite(dir, content string) string {
	s.t.Helper()
	out, err := s.try(dir, content, "hash-object", "-w", "--stdin")
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func TestEditTreeKeepsWhatItDoesNotTouch(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	r := s.open(dir)
	ctx := t.Context()
	blob := git.OID(s.hashWrite(dir, "x"))
	head := git.OID(s.git(dir, "rev-parse", "HEAD"))
	root := must[git.OID](t)(r.EditTree(ctx, "", []git.Edit{
		{Path: "sub", Mode: git.ModeModule, OID: head}, {Path: "d/f", Mode: git.ModeFile, OID: blob},
	}))
	same := must[git.OID](t)(r.EditTree(ctx, root, []git.Edit{
		{Path: "sub/x"}, {Path: "d/f/g"}, {Path: "nothing/here"}, {Path: "d/f", Mode: git.ModeFile, OID: blob},
	}))
	if same != root {
		t.Errorf("changed to %s", s.git(dir, "ls-tree", "-r", string(same)))
	}
	got := must[git.OID](t)(r.EditTree(ctx, root, []git.Edit{{Path: "new", Mode: git.ModeLink, OID: blob}, {Path: "d"}}))
	if err := r.SyncObjects(); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("120000 blob %s\tnew\n160000 commit %s\tsub", blob, head)
	if diff := cmp.Diff(want, s.git(dir, "ls-tree", "-r", string(got))); diff != "" {
		t.Error(diff)
	}
	// A mode that old versions of git wrote stays.
	out, err := s.try(dir, fmt.Sprintf("100664 blob %s\told\n", blob), "mktree")
	if err != nil {
		t.Fatal(err)
	}
	legacy := must[git.OID](t)(r.EditTree(ctx, git.OID(strings.TrimSpace(out)), []git.Edit{{Path: "n", Mode: git.ModeFile, OID: blob}}))
	entry, ok, err := r.Lookup(ctx, legacy, "old")
	if err != nil || !ok || entry.Mode != 0o100664 {
		t.Errorf("got %v %v %v", entry, ok, err)
	}
}

func TestEditTreeRefusesBadPaths(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	r := s.open(s.init("r"))
	blob := must[git.OID](t)(r.WriteBlob(nil))
	for _, path := range []string{"", "/a", "a/", "a//b", "../a", "a/../b", ".git/config", "a/.GIT", "a\x00"} {
		for _, oid := range []git.OID{blob, ""} {
			_, err := r.EditTree(t.Context(), "", []git.Edit{{Path: path, Mode: git.ModeFile, OID: oid}})
			if !errors.Is(err, git.ErrBadPath) {
				t.Errorf("%q: %v", path, err)
			}
		}
	}
	if _, err := r.EditTree(t.Context(), git.OID(strings.Repeat("1", 40)), []git.Edit{{Path: "a"}}); !errors.Is(err, git.ErrMissing) {
		t.Errorf("got %v", err)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	super := s.superproject()
	s.write(super, "d/e/f", "x")
	s.git(super, "add", "d")
	s.git(super, "commit", "-q", "-m", "d")
	r := s.open(super)
	tree := git.OID(s.git(super, "rev-parse", "HEAD^{tree}"))
	for path, mode := range map[string]git.Mode{
		"a": git.ModeFile, "d": git.ModeTree, "d/e/f": git.ModeFile, "sub": git.ModeModule,
		"": 0, "x": 0, "a/x": 0, "sub/a": 0, "d/e/f/g": 0, "d//e": 0, "d/": 0,
	} {
		got, ok, err := r.Lookup(t.Context(), tree, path)
		if err != nil || ok != (mode != 0) || got.Mode != mode {
			t.Errorf("%q: %v %v %v", path, got, ok, err)
		}
		if ok && string(got.OID) != s.git(super, "rev-parse", "HEAD:"+path) {
			t.Errorf("%q: %s", path, got.OID)
		}
	}
}
