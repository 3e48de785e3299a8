//go:build linux || darwin

package bands_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/bands/restore"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// changedTree returns a tree with each kind of difference from the returned version.
func changedTree(t *testing.T) (*rig, bands.Version) {
	t.Helper()
	r := newRig(t)
	r.write("modified", numbered(0, 50))
	r.write("old/name.go", numbered(100, 140))
	r.write("similar/a.go", numbered(200, 240))
	r.write("deleted", "gone\n")
	r.write("binary", "a\x00b")
	r.write("touched", "same\n")
	r.write("run", "same\n")
	r.write("kind", "a file\n")
	r.write("unchanged", "same\n")
	v := r.take()
	r.write("modified", numbered(0, 20)+"new\n"+numbered(22, 50))
	r.must(os.MkdirAll(r.path("new"), 0o755))
	r.must(os.Rename(r.path("old/name.go"), r.path("new/other.go")))
	r.remove("old")
	r.remove("similar")
	r.write("moved/a.go", numbered(200, 235)+"x\n")
	r.remove("deleted")
	r.write("added", "one\ntwo")
	r.write("binary", "a\x00c")
	r.write("touched", "same\n")
	r.must(os.Chmod(r.path("run"), 0o755))
	r.remove("kind")
	r.must(os.Symlink("added", r.path("kind")))
	return r, v
}

func (r *rig) sides(v bands.Version) (old, now diff.Side) {
	r.t.Helper()
	old, err := diff.SnapshotSide(r.store, r.snapshot(v))
	r.must(err)
	present, err := capture.Scan(r.t.Context(), r.store, r.opts)
	r.must(err)
	now, err = diff.PresentSide(present, r.root)
	r.must(err)
	r.t.Cleanup(func() { r.must(errors.Join(old.Close(), now.Close(), present.Close())) })
	return old, now
}

func TestDiffStatReportsEachKind(t *testing.T) {
	t.Parallel()
	r, v := changedTree(t)
	want := []diff.File{
		{Path: "added", Kind: diff.Added, Added: 2, Counted: true},
		{Path: "binary", Kind: diff.Modified, Binary: true},
		{Path: "deleted", Kind: diff.Deleted, Removed: 1, Counted: true},
		{Path: "kind", Kind: diff.Retyped},
		{Path: "modified", Kind: diff.Modified, Added: 1, Removed: 2, Counted: true},
		{Path: "moved/a.go", OldPath: "similar/a.go", Kind: diff.Renamed, Added: 1, Removed: 5, Counted: true},
		{Path: "new/other.go", OldPath: "old/name.go", Kind: diff.Renamed, Counted: true},
		{Path: "run", Kind: diff.Attributes, Counted: true},
	}
	check := func(old, now diff.Side) {
		t.Helper()
		got, err := diff.Stat(t.Context(), old, now, diff.Options{})
		r.must(err)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(diff.File{})); diff != "" {
			t.Error(diff)
		}
	}
	check(r.sides(v))
	second, err := diff.SnapshotSide(r.store, r.snapshot(r.take()))
	r.must(err)
	old, _ := r.sides(v)
	check(old, second)
	r.must(second.Close())
}

// Applying the diff with git to an export of the snapshot gives the present files.
func TestUnifiedDiffAppliesWithGit(t *testing.T) {
	t.Parallel()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git")
	}
	r, v := changedTree(t)
	r.write("binary", "a\x00b")
	old, now := r.sides(v)
	var text bytes.Buffer
	_, err = diff.Unified(t.Context(), &text, old, now, diff.Options{})
	r.must(err)
	to := filepath.Join(t.TempDir(), "export")
	if _, err := restore.Export(t.Context(), r.store, r.snapshot(v), to, restore.ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	patch := filepath.Join(t.TempDir(), "patch")
	r.must(os.WriteFile(patch, text.Bytes(), 0o600))
	cmd := exec.Command(git, "apply", "-p1", patch)
	cmd.Dir = to
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CEILING_DIRECTORIES=" + filepath.Dir(to)}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, text.Bytes())
	}
	for _, name := range []string{"modified", "moved/a.go", "new/other.go", "added", "kind"} {
		want, err := os.ReadFile(r.path(name))
		r.must(err)
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(to, "deleted")); err == nil {
		t.Error("the deleted file is there")
	}
	if target, err := os.Readlink(filepath.Join(to, "kind")); err != nil || target != "added" {
		t.Errorf("%q, %v", target, err)
	}
}

func TestUnifiedDiffOfAPath(t *testing.T) {
	t.Parallel()
	r, v := changedTree(t)
	old, now := r.sides(v)
	var out bytes.Buffer
	_, err := diff.Unified(t.Context(), &out, old, now, diff.Options{Paths: []string{"modified"}})
	r.must(err)
	want := "diff --git a/modified b/modified\n--- a/modified\n+++ b/modified\n@@ -18,8 +18,7 @@\n line 17\n line 18\n line 19\n-line 20\n-line 21\n+new\n line 22\n line 23\n line 24\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
