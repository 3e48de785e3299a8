//go:build linux || darwin

package bands_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/verify"
)

// goldenStore was written by a version from before directories had pages. Its v1 and v2 are
// goldenFiles(1) and goldenFiles(2).
const goldenStore = "testdata/store-format-1.tar.gz"

// goldenFiles returns the files of a tree with a folder of 1,500 names.
func goldenFiles(version int) map[string]string {
	files := map[string]string{"top": "top", "small/one": "text of one", "small/two": "text of two"}
	for i := range 1500 {
		name := fmt.Sprintf("many/%04d", i)
		files[name] = ""
		if i%50 == 0 {
			files[name] = "text of " + name
		}
	}
	if version == 2 {
		files["many/0700"] = "changed"
		files["many/extra"] = "new"
		delete(files, "many/0001")
	}
	return files
}

// untar unpacks a store.
func untar(t *testing.T, from, to string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(to, filepath.Clean("/"+h.Name))
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o700)
		case tar.TypeLink:
			err = os.Link(filepath.Join(to, filepath.Clean("/"+h.Linkname)), path)
		case tar.TypeSymlink:
			err = os.Symlink(h.Linkname, path)
		default:
			var data []byte
			data, err = io.ReadAll(r)
			err = errors.Join(err, os.WriteFile(path, data, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// files returns the content of the files below root, by path.
func files(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		found[strings.TrimPrefix(path, root+"/")] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestFormerStoreFormat(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.must(os.RemoveAll(r.store.Dir()))
	untar(t, goldenStore, r.store.Dir())
	store, err := bands.Open(r.store.Dir())
	r.must(err)
	r.store = store
	damage, err := verify.Run(t.Context(), store, 0, nil)
	if err != nil || !damage.OK() {
		t.Fatalf("%+v, %v", damage, err)
	}
	for v := 1; v <= 2; v++ {
		out := filepath.Join(t.TempDir(), "out")
		_, err := restore.Export(t.Context(), store, r.snapshot(bands.Version(v)), out, restore.ExportOptions{})
		r.must(err)
		if diff := cmp.Diff(goldenFiles(v), files(t, out)); diff != "" {
			t.Errorf("v%d: %s", v, diff)
		}
	}

	for name, text := range goldenFiles(2) {
		r.write(name, text)
	}
	r.write("many/0003", "three")
	want := maps.Clone(goldenFiles(2))
	want["many/0003"] = "three"
	taken := r.takeAndCheck() // the folder is now stored in pages
	if taken.Snapshot.Version != 3 || taken.Snapshot.Parent != 2 {
		t.Errorf("%+v", taken.Snapshot)
	}
	old, now := r.sides(2)
	list, err := diff.Stat(t.Context(), old, now, diff.Options{})
	r.must(err)
	// Owner and mode of the files written here depend on the user who runs the test.
	var modified []string
	for _, d := range list {
		if d.Kind != diff.Attributes {
			modified = append(modified, string(d.Kind)+" "+d.Path)
		}
	}
	if diff := cmp.Diff([]string{"modified many/0003"}, modified); diff != "" {
		t.Error(diff)
	}
	r.restore(1, restore.Scope{})
	if diff := cmp.Diff(goldenFiles(1), files(t, r.root)); diff != "" {
		t.Error(diff)
	}
	r.restore(3, restore.Scope{})
	if diff := cmp.Diff(want, files(t, r.root)); diff != "" {
		t.Error(diff)
	}
}
