package capture

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// model is the expected content of a stat cache: the sizes of files, by path.
type model map[string]int64

// A model has dirs directories, each with files files.
const (
	dirs  = 40
	files = 25
)

func dirName(i int) string { return fmt.Sprintf("dir%02d", i) }

// block returns a directory with one subdirectory, deep, that contains the files.
func block(m model, i int) *statNode {
	deep := newStatNode(StatLine{Kind: statDir, Ino: uint64(1000 + i)}, band.StoredDirectory{}, 0)
	for f := range files {
		name := fmt.Sprintf("file%02d", f)
		deep.Add(&StatLine{Name: name, Kind: statFile, Size: m[dirName(i)+"/"+name]})
	}
	above := newStatNode(StatLine{Kind: statDir, Ino: uint64(i + 1)}, band.StoredDirectory{}, 0)
	above.AddDir("deep", statSubdirectory{Node: deep})
	return above
}

// root returns the root directory. Directories that were not changed refer to old.
func root(t *testing.T, m model, old *StatCache, changed map[int]bool) *statNode {
	t.Helper()
	top := newStatNode(StatLine{Kind: statDir, Ino: 1}, band.StoredDirectory{}, 0)
	before := map[string]StatDirectory{}
	if old != nil {
		var e StatLine
		for lines := old.Root.Lines(); lines.Next(&e); {
			kid, ok := old.Child(old.Root, e)
			if !ok {
				t.Fatalf("no block of %s", e.Name)
			}
			before[e.Name] = kid
		}
	}
	for i := range dirs {
		if kid, ok := before[dirName(i)]; ok && !changed[i] {
			top.AddDir(dirName(i), statSubdirectory{Old: kid})
			continue
		}
		top.AddDir(dirName(i), statSubdirectory{Node: block(m, i)})
	}
	return top
}

// read returns the content of a stat cache.
func read(t *testing.T, c *StatCache) model {
	t.Helper()
	m := model{}
	var dir, deep, file StatLine
	for lines := c.Root.Lines(); lines.Next(&dir); {
		above, ok := c.Child(c.Root, dir)
		kids := above.Lines()
		if !ok || !kids.Next(&deep) {
			t.Fatalf("no block of %s", dir.Name)
		}
		below, ok := c.Child(above, deep)
		if !ok {
			t.Fatalf("no block below %s", dir.Name)
		}
		for lines := below.Lines(); lines.Next(&file); {
			m[dir.Name+"/"+file.Name] = file.Size
		}
	}
	return m
}

// TestUpdates adds changes to a stat cache until it has been rewritten several times, and reads
// it after each with ReadStatCache and with openStatCache.
func TestUpdates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stat")
	r := rand.New(rand.NewPCG(1, 2))
	m := model{}
	for i := range dirs {
		for f := range files {
			m[fmt.Sprintf("%s/file%02d", dirName(i), f)] = r.Int64()
		}
	}
	end, sum, err := saveStatCache(path, StatMeta{Version: 1}, root(t, m, nil, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for n := range testkit.Rounds(100, 400) {
		old, err := openStatCache(path, end, sum)
		if err != nil {
			t.Fatal(err)
		}
		changed := map[int]bool{}
		for range r.IntN(3) {
			i := r.IntN(dirs)
			changed[i] = true
			m[fmt.Sprintf("%s/file%02d", dirName(i), r.IntN(files))] = r.Int64()
		}
		before := end
		meta := StatMeta{Version: 2, Fit: CapFit{Weight: int64(n)}}
		if end, sum, err = saveStatCache(path, meta, root(t, m, old, changed), old); err != nil {
			t.Fatal(err)
		}
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		if end < before {
			whole++
		}
		check(t, path, end, sum, meta, m)
	}
	if whole == 0 {
		t.Error("the updates were never written whole")
	}
}

// check reads the stat cache with ReadStatCache and with openStatCache.
func check(t *testing.T, path string, end uint64, sum uint32, meta StatMeta, want model) {
	t.Helper()
	all, err := ReadStatCache(path)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := openStatCache(path, end, sum)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = opened.Close() }()
	for _, c := range []*StatCache{all, opened} {
		if diff := cmp.Diff(meta, c.StatMeta); diff != "" {
			t.Error(diff)
		}
		if got := read(t, c); !maps.Equal(want, got) {
			t.Fatal(cmp.Diff(want, got))
		}
	}
	if all.End != end || all.Sum != sum {
		t.Errorf("read %d, %x, want %d, %x", all.End, all.Sum, end, sum)
	}
}

// TestTruncatedUpdate checks that nothing of a truncated update is read, and that the former end
// of the cache is still valid. A change of any byte is detected.
func TestTruncatedUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stat")
	m := model{"dir03/file01": 7}
	end, sum, err := saveStatCache(path, StatMeta{Version: 1}, root(t, m, nil, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := read(t, open(t, path, end, sum))
	old := open(t, path, end, sum)
	m["dir03/file01"] = 8
	updated, updatedSum, err := saveStatCache(path, StatMeta{Version: 2}, root(t, m, old, map[int]bool{3: true}), old)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for length := int(end) + 1; length < len(data); length += 7 {
		if err := os.WriteFile(path, data[:length], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadStatCache(path); err == nil {
			t.Fatalf("an update of %d of %d bytes was read", length-int(end), len(data)-int(end))
		}
		if _, err := openStatCache(path, updated, updatedSum); err == nil {
			t.Fatalf("an update of %d of %d bytes was opened", length-int(end), len(data)-int(end))
		}
		if got := read(t, open(t, path, end, sum)); !maps.Equal(want, got) {
			t.Fatal(cmp.Diff(want, got))
		}
	}
	for at := 0; at < len(data); at += 97 {
		data[at] ^= 1
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadStatCache(path); err == nil {
			t.Fatalf("another byte at %d was not noticed", at)
		}
		data[at] ^= 1
	}
}

func open(t *testing.T, path string, end uint64, sum uint32) *StatCache {
	t.Helper()
	c, err := openStatCache(path, end, sum)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
