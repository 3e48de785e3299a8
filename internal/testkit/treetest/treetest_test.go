package treetest_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

func TestSameSeedSameTree(t *testing.T) {
	t.Parallel()
	plant := func() treetest.Model {
		root := t.TempDir()
		t.Cleanup(func() { treetest.Loosen(root) })
		tree := treetest.New(t, root, treetest.Seeded(7))
		tree.Large = true
		tree.Plant(40)
		tree.Edit(40)
		return tree.Read()
	}
	one, two := plant(), plant()
	for _, m := range []treetest.Model{one, two} {
		for path, node := range m { // times that were not set differ
			node.Mtime = 0
			m[path] = node
		}
	}
	if diff := treetest.Diff(one, two); diff != "" {
		t.Error(diff)
	}
	if len(one) < 20 {
		t.Errorf("only %d paths", len(one))
	}
}

// TestCopiedExactly compares the reader with cp -a, which keeps everything except small holes.
func TestCopiedExactly(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("not with -short")
	}
	if err := exec.Command("cp", "--version").Run(); err != nil {
		t.Skip("no GNU cp")
	}
	all, n := t.TempDir(), 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		dir := filepath.Join(all, strconv.Itoa(n))
		defer func() {
			treetest.Loosen(dir)
			_ = os.RemoveAll(dir)
		}()
		root := filepath.Join(dir, "one")
		if err := os.MkdirAll(root, 0o755); err != nil {
			r.Fatal(err)
		}
		tree := treetest.New(r, root, treetest.Drawn(r))
		tree.Plant(20)
		tree.Edit(20)
		if out, err := exec.Command("cp", "-a", "--sparse=auto", root, filepath.Join(dir, "two")).CombinedOutput(); err != nil {
			r.Fatalf("cp: %v\n%s", err, out)
		}
		want, got := tree.Read(), treetest.Read(r, filepath.Join(dir, "two"))
		for _, m := range []treetest.Model{want, got} {
			for path, node := range m {
				node.Data = ""
				m[path] = node
			}
		}
		if diff := treetest.Diff(want, got); diff != "" {
			r.Error(diff)
		}
	})
}

func TestReadReportsHoles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if !treetest.Probe(t, root).Holes {
		t.Skip("no holes here")
	}
	f, err := os.Create(filepath.Join(root, "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, 1<<16), 1<<17); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(1<<20), f.Close()); err != nil {
		t.Fatal(err)
	}
	if got, want := treetest.Read(t, root)["sparse"].Data, "data 131072+65536 "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Holes that a snapshot may not record are ignored, and so is one at the end smaller than a block.
func TestSmallHolesAreNoDifference(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if !treetest.Probe(t, root).Holes {
		t.Skip("no holes here")
	}
	for name, test := range map[string]struct {
		at   []int64 // offsets of written blocks
		size int64
		want string
	}{
		"two blocks":   {[]int64{0, 3 << 12}, 4 << 12, ""},
		"three blocks": {[]int64{0, 4 << 12}, 5 << 12, "data 0+4096 16384+4096 "},
		"odd end":      {[]int64{4 << 12}, 5<<12 + 100, "data 16384+4196 "},
		"only a hole":  {nil, 4 << 12, "data "},
	} {
		f, err := os.Create(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range test.at {
			_, wrote := f.WriteAt(bytes.Repeat([]byte{1}, 1<<12), at)
			err = errors.Join(err, wrote)
		}
		if err := errors.Join(err, f.Truncate(test.size), f.Close()); err != nil {
			t.Fatal(err)
		}
		if got := treetest.Read(t, root)[name].Data; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestDiffReportsEachKind(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"mode":    func(path string) error { return os.Chmod(path, 0o600) },
		"content": func(path string) error { return os.WriteFile(path, []byte("two"), 0o644) },
		"gone":    os.Remove,
		"kind":    func(path string) error { _ = os.Remove(path); return os.Mkdir(path, 0o755) },
		"symlink": func(path string) error { _ = os.Remove(path); return os.Symlink("x", path) },
		"linked":  func(path string) error { return os.Link(path, path+".second") },
		"holes":   func(path string) error { return os.Truncate(path, 1<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			path := filepath.Join(root, "file")
			if err := os.WriteFile(path, []byte("one"), 0o644); err != nil {
				t.Fatal(err)
			}
			before := treetest.Read(t, root)
			if diff := treetest.Diff(before, treetest.Read(t, root)); diff != "" {
				t.Fatalf("nothing was changed:\n%s", diff)
			}
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			if treetest.Diff(before, treetest.Read(t, root)) == "" {
				t.Error("no difference")
			}
		})
	}
}

func TestRestored(t *testing.T) {
	t.Parallel()
	file, dir, fifo := treetest.Node{Kind: treetest.File, Size: 1}, treetest.Node{Kind: treetest.Dir}, treetest.Node{Kind: treetest.FIFO}
	other := treetest.Node{Kind: treetest.File, Size: 2}
	for _, c := range []struct {
		name                  string
		target, present, want treetest.Model
	}{
		{
			"all is held",
			treetest.Model{".": dir, "a": file},
			treetest.Model{".": dir, "a": other, "b": file},
			treetest.Model{".": dir, "a": file},
		},
		{
			"a fifo that was there then is a file now",
			treetest.Model{".": dir, "a": fifo},
			treetest.Model{".": dir, "a": other},
			treetest.Model{".": dir, "a": other},
		},
		{
			"a fifo came in a new directory",
			treetest.Model{".": dir, "a": file},
			treetest.Model{".": dir, "d": dir, "d/f": fifo, "d/x": file},
			treetest.Model{".": dir, "a": file, "d": dir, "d/f": fifo},
		},
		{
			"a fifo came where a directory was",
			treetest.Model{".": dir, "d": dir, "d/x": file},
			treetest.Model{".": dir, "d": fifo},
			treetest.Model{".": dir, "d": fifo},
		},
		{
			"a fifo has gone",
			treetest.Model{".": dir, "d": dir, "d/f": fifo},
			treetest.Model{".": dir},
			treetest.Model{".": dir, "d": dir},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, _ := treetest.Restored(c.target, c.present)
			if diff := treetest.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
