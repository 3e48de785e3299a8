package git_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

func TestChangesEqualDiffTree(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		r := s.Open(dir)
		head := git.OID(s.Git(dir, "rev-parse", "HEAD"))
		blobs := []string{s.StoreBlob(dir, "1"), s.StoreBlob(dir, "2")}
		paths := rapid.SampledFrom([]string{"a", "a-", "a.b", "a0", "b", "a/a", "a/b", "a/a/a", "a/a/b", "b/a", "a-/x", "\"q\n", "ä\xff/x"})
		rapid.Check(t, func(t *rapid.T) {
			trees := make([]git.OID, 2)
			var from git.OID
			for i := range trees {
				edits := make([]git.TreeEdit, rapid.IntRange(0, 8).Draw(t, "edits"))
				for j := range edits {
					edits[j] = drawLeaf(t, paths, blobs, head)
				}
				tree, err := git.EditTree(context.Background(), r, from, edits)
				if err != nil {
					t.Fatal(err)
				}
				trees[i], from = tree, tree
			}
			got, errA := git.Changes(context.Background(), r, trees[0], trees[1])
			want, errB := git.DiffTree(context.Background(), r, trees[0], trees[1])
			if err := errors.Join(errA, errB); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("from %s to %s (-git +ours):\n%s", trees[0], trees[1], diff)
			}
		})
	})
}

func drawLeaf(t *rapid.T, paths *rapid.Generator[string], blobs []string, module git.OID) git.TreeEdit {
	e := git.TreeEdit{Path: paths.Draw(t, "path")}
	switch rapid.IntRange(0, 8).Draw(t, "kind") {
	case 0, 1:
	case 2:
		e.Mode, e.OID = git.ModeModule, module
	default:
		e.Mode = rapid.SampledFrom([]git.Mode{git.ModeFile, git.ModeExec, git.ModeLink}).Draw(t, "mode")
		e.OID = git.OID(rapid.SampledFrom(blobs).Draw(t, "blob"))
	}
	return e
}

// A few changes of loose trees are compared without a process; many are left to git.
func TestChangesStartsNoProcess(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	blob := git.OID(s.StoreBlob(dir, "x"))
	for n, want := range map[int]int{100: 0, 400: 1} {
		var edits []git.TreeEdit
		for i := range n {
			edits = append(edits, git.TreeEdit{Path: fmt.Sprintf("d%d/f", i), Mode: git.ModeFile, OID: blob})
		}
		tree := gittest.Must[git.OID](t)(git.EditTree(t.Context(), r, "", edits))
		if err := r.SyncObjects(); err != nil {
			t.Fatal(err)
		}
		reader := s.Open(dir)
		if got := gittest.Must[[]git.Change](t)(git.Changes(t.Context(), reader, "", tree)); len(got) != n {
			t.Errorf("%d changes, want %d", len(got), n)
		}
		if got := reader.Processes(); got != want {
			t.Errorf("%d changes: %d processes, want %d", n, got, want)
		}
	}
}

// Modes that occur only in old trees are treated as git treats them.
func TestChangesOfOddModes(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	blob := s.StoreBlob(dir, "x")
	odd := func(mode string) git.OID {
		raw := mode + " f\x00" + string(gittest.Must[[]byte](t)(hex.DecodeString(blob)))
		out, err := s.Try(dir, raw, "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
		if err != nil {
			t.Fatal(err)
		}
		return git.OID(out[:len(blob)])
	}
	r := s.Open(dir)
	modes := []string{"100644", "100664", "100755", "100775", "100600", "120000", "120777", "160000"}
	for _, from := range modes {
		for _, to := range modes {
			a, b := odd(from), odd(to)
			want := gittest.Must[[]git.Change](t)(git.DiffTree(t.Context(), r, a, b))
			if diff := cmp.Diff(want, gittest.Must[[]git.Change](t)(git.Changes(t.Context(), r, a, b))); diff != "" {
				t.Errorf("%s to %s (-git +ours):\n%s", from, to, diff)
			}
		}
	}
}
