//go:build linux || darwin

package bands_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestExportOmitsIgnoredFilesByDefault(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"a", ".env", "node_modules/x/y", ".claude/settings.json", "lib/.git/HEAD", "lib/build/out"} {
		r.write(name, name)
	}
	snapshot := r.snapshot(r.take())
	var asked []string
	ignored := func(_ context.Context, paths []string) ([]string, error) {
		asked = append(asked, paths...)
		return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
			return p != ".env" && p != "node_modules/" && !strings.HasSuffix(p, "build/")
		}), nil
	}
	to := filepath.Join(t.TempDir(), "to")
	done, err := restore.Export(t.Context(), r.store, snapshot, to, restore.ExportOptions{Ignored: ignored})
	r.must(err)
	if diff := cmp.Diff([]string{".env", "node_modules/", "lib/build/"}, done.LeftOut); diff != "" {
		t.Error(diff)
	}
	if slices.Contains(asked, "node_modules/x/") {
		t.Error("it was asked below an ignored directory")
	}
	files := func(dir string) (list []string) {
		r.must(filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				rel, _ := filepath.Rel(dir, p)
				list = append(list, rel)
			}
			return err
		}))
		return list
	}
	if diff := cmp.Diff([]string{".claude/settings.json", "a", "lib/.git/HEAD"}, files(to)); diff != "" {
		t.Error(diff)
	}
	all := filepath.Join(t.TempDir(), "all")
	if _, err := restore.Export(t.Context(), r.store, snapshot, all, restore.ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := files(all); len(got) != 6 {
		t.Errorf("%q", got)
	}
	if _, err := restore.Export(t.Context(), r.store, snapshot, all, restore.ExportOptions{}); !errors.Is(err, restore.ErrNotEmpty) {
		t.Errorf("over what is there: %v", err)
	}
}

// Hard links of one file are hard links in an export, in whatever order directories are written.
// Directories have their times and modes although links are created last.
func TestExportKeepsHardLinks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, dir := range []string{"a", "b/deep", "c"} {
		r.must(os.MkdirAll(r.path(dir), 0o755))
		r.write(dir+"/own", dir)
	}
	r.write("a/one", "content")
	names := []string{"a/one", "a/two", "b/deep/one", "c/one", "root"}
	for _, name := range names[1:] {
		r.must(os.Link(r.path(names[0]), r.path(name)))
	}
	r.must(os.Chmod(r.path("c"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(r.path("c"), 0o755) })
	past := time.Unix(1_500_000_000, 0)
	dirs := []string{"a", "b/deep", "b", "c", "."}
	for _, dir := range dirs {
		r.must(os.Chtimes(r.path(dir), past, past))
	}
	snapshot := r.snapshot(r.take())
	to := filepath.Join(t.TempDir(), "to")
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(to, "c"), 0o755) })
	done, err := restore.Export(t.Context(), r.store, snapshot, to, restore.ExportOptions{})
	r.must(err)
	if done.Files != 5+len(names)+3 {
		t.Errorf("%d files", done.Files)
	}
	first, err := os.Stat(filepath.Join(to, names[0]))
	r.must(err)
	for _, name := range names {
		info, err := os.Stat(filepath.Join(to, name))
		if err != nil || !os.SameFile(first, info) {
			t.Errorf("%s is another file: %v", name, err)
		}
	}
	for _, dir := range dirs {
		was, err := os.Stat(r.path(dir))
		r.must(err)
		info, err := os.Stat(filepath.Join(to, dir))
		r.must(err)
		if info.Mode() != was.Mode() || !info.ModTime().Equal(past) {
			t.Errorf("%s: %s, %s", dir, info.Mode(), info.ModTime())
		}
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	large := strings.Repeat("0123456789abcdef", 400_000)
	r.write("dir/large", large)
	r.must(os.Symlink("dir/large", r.path("link")))
	sparse, err := os.Create(r.path("sparse"))
	r.must(err)
	_, err = sparse.WriteAt([]byte("end"), 3<<20)
	r.must(errors.Join(err, sparse.Close()))
	snapshot := r.snapshot(r.take())
	for name, want := range map[string]string{
		"dir/large": large, "./dir//large": large, "link": "dir/large", "sparse": strings.Repeat("\x00", 3<<20) + "end",
	} {
		var out bytes.Buffer
		if err := restore.ReadFile(r.store, snapshot, name, &out); err != nil || out.String() != want {
			t.Errorf("%s: %d bytes, %v", name, out.Len(), err)
		}
	}
	for name, want := range map[string]error{"dir": restore.ErrIsDirectory, "nowhere": fs.ErrNotExist, "dir/large/x": fs.ErrNotExist} {
		if err := restore.ReadFile(r.store, snapshot, name, &bytes.Buffer{}); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSparseFilesAreRestoredSparse(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "a file of 64 MB")
	r := newRig(t)
	f, err := os.Create(r.path("sparse"))
	r.must(err)
	_, err = f.WriteAt([]byte("end"), 64<<20)
	r.must(errors.Join(err, f.Close()))
	v := r.take()
	r.remove("sparse")
	r.restore(v, restore.Scope{})
	var out bytes.Buffer
	r.must(restore.ReadFile(r.store, r.snapshot(v), "sparse", &out))
	got, err := os.ReadFile(r.path("sparse"))
	if err != nil || !bytes.Equal(got, out.Bytes()) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if size := allocated(t, r.path("sparse")); size > 1<<20 {
		t.Errorf("it takes %d bytes", size)
	}
}

// mkdirApart creates a directory of many files elsewhere: the result is the same.
func TestRestoreOfADirectoryOfManyFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must(os.MkdirAll(r.path("many/deep"), 0o750))
	for i := range 2100 {
		r.must(os.WriteFile(r.path("many/deep/file"+strconv.Itoa(i)), nil, 0o600))
	}
	v := r.take()
	r.remove("many")
	done := r.restore(v, restore.Scope{})
	if diff := cmp.Diff([]string(nil), steps(r.plan(v, restore.Scope{}))); diff != "" {
		t.Error(diff)
	}
	entries, err := os.ReadDir(r.root)
	if err != nil || len(entries) != 1 || done.Verified != 2100 {
		t.Errorf("%v, %v, %d verified", entries, err, done.Verified)
	}
}
