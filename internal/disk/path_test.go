package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// TestResolver resolves paths in a tree that is reached through a link:
//
//	data/proj/{sub/inner,file,inside -> sub/inner,away -> ../other,nowhere -> gone}
//	data/other
//	home/proj -> ../data/proj, home/inner -> ../data/proj/sub/inner
func TestResolver(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(path string) string { return filepath.Join(top, filepath.FromSlash(path)) }
	for _, dir := range []string{"data/proj/sub/inner", "data/other", "home"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"data/proj/inside": "sub/inner", "data/proj/away": "../other", "data/proj/nowhere": "gone",
		"home/proj": "../data/proj", "home/inner": "../data/proj/sub/inner",
	} {
		if err := os.Symlink(filepath.FromSlash(target), at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ root, dir, path, want string }{
		{"data/proj", "data/proj", "file", "file"},
		{"data/proj", "data/proj/sub", "x", "sub/x"},
		{"data/proj", "data/proj/sub", "../file", "file"},
		{"data/proj", "data/proj/sub", "..", "."},
		{"data/proj", "data/proj", ".", "."},
		{"data/proj", "data/proj", "./sub//inner/", "sub/inner"},
		{"data/proj", "data/proj", "../other/x", ""},
		{"data/proj", "data/other", "x", ""},
		{"data/proj", "data/proj", "", ""},
		{"data/proj", "data/proj", "a\x00b", ""},
		{"data/proj", "data/proj", "..x/y", "..x/y"},

		// The working directory is a link.
		{"data/proj", "home/proj", "file", "file"},
		{"data/proj", "home/proj/sub", "config.json", "sub/config.json"},
		{"data/proj", "home/proj", "gone/dir/file", "gone/dir/file"},
		{"data/proj", "home/proj/gone/dir", "file", "gone/dir/file"},
		{"data/proj", "home/inner", "../x", "sub/x"},
		{"data/proj", "home/inner", "../../file", "file"},
		{"data/proj", "home/proj", "../x", ""},
		{"home/proj", "data/proj", "file", "file"},

		// Absolute paths, with and without a link.
		{"data/proj", "data/other", "/home/proj/sub/x", "sub/x"},
		{"data/proj", "data/other", "/home/proj", "."},
		{"data/proj", "data/other", "/home/proj/", "."},
		{"data/proj", "data/other", "/home/inner", "sub/inner"},
		{"data/proj", "data/other", "/home", ""},
		{"data/proj", "data/other", "/home/proj/.", "."},
		{"data/proj", "data/other", "/data/proj", "."},
		{"data/proj", "", "/home/inner/gone/x", "sub/inner/gone/x"},
		{"data/proj", "", "file", ""},

		// Links inside the tree.
		{"data/proj", "data/proj", "inside/x", "sub/inner/x"},
		{"data/proj", "data/proj", "inside", "inside"},
		{"data/proj", "data/proj", "inside/", "inside"},
		{"data/proj", "data/proj", "inside/../x", "sub/x"},
		{"data/proj", "data/proj", "inside/gone/../x", "sub/inner/x"},
		{"data/proj", "data/proj", "away", "away"},
		{"data/proj", "data/proj", "away/x", ""},
		{"data/proj", "data/proj", "nowhere/x", "nowhere/x"},
	} {
		dir, path := c.dir, c.path
		if dir != "" {
			dir = at(dir)
		}
		if filepath.IsAbs(path) {
			path = top + path
		}
		got, ok := disk.NewResolver(at(c.root), dir).Rel(path)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q in %s below %s is %q, %t; want %q", c.path, c.dir, c.root, got, ok, c.want)
		}
	}
}
