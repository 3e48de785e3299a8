package band_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/bands/band"
)

// memory is a Loader of directories that were never written.
type memory map[band.Ref]*band.Directory

func (m memory) Directory(ref band.Ref) (*band.Directory, error) {
	if d, ok := m[ref]; ok {
		return d, nil
	}
	return nil, fmt.Errorf("directory %v: %w", ref, fs.ErrNotExist)
}

// model is a naive representation of a tree: all paths, with the root as "". Directories have
// their attributes.
type model map[string]band.Entry

// build adds the directories of a model to l and returns the root.
func (m model) build(l memory) band.Ref { return m.directory(l, "") }

func (m model) directory(l memory, path string) band.Ref {
	d := &band.Directory{Attr: m[path].Attr}
	for _, p := range slices.Sorted(maps.Keys(m)) {
		if p == "" || parent(p) != path {
			continue
		}
		e := m[p]
		e.Name = p[strings.LastIndex(p, "/")+1:]
		if e.Kind == band.Dir {
			e.Content = m.directory(l, p)
			e.Attr = band.Attr{}
		}
		d.Entries = append(d.Entries, e)
	}
	slices.SortFunc(d.Entries, func(a, b band.Entry) int { return strings.Compare(a.Name, b.Name) })
	ref := band.Ref{Hash: sha256.Sum256(d.Encode(nil)), Offset: 16}
	l[ref] = d
	return ref
}

func parent(path string) string {
	if i := strings.LastIndex(path, "/"); i >= 0 {
		return path[:i]
	}
	return ""
}

// below reports whether path is in the directory dir, at any depth.
func below(path, dir string) bool {
	return path != dir && (dir == "" || strings.HasPrefix(path, dir+"/"))
}

// compare is a naive DiffTrees.
func compare(old, now model) map[string]band.ChangeKind {
	changes := map[string]band.ChangeKind{}
	for path := range union(old, now) {
		o, inOld := old[path]
		n, inNew := now[path]
		if path != "" && (o.Kind == band.Unknown || n.Kind == band.Unknown) {
			if o.Kind != n.Kind {
				changes[path] = band.UnknownChange
			}
			continue
		}
		switch {
		case !inOld:
			changes[path] = band.Added
		case !inNew:
			changes[path] = band.Deleted
		case o.Kind != n.Kind:
			changes[path] = band.TypeChanged
		case o.Size != n.Size || o.Content.Hash != n.Content.Hash || o.Target != n.Target:
			changes[path] = band.Modified
		case !cmp.Equal(o.Attr, n.Attr):
			changes[path] = band.AttributesChanged
		}
	}
	for hidden, kind := range changes {
		if kind == band.UnknownChange {
			maps.DeleteFunc(changes, func(path string, _ band.ChangeKind) bool { return below(path, hidden) })
		}
	}
	return changes
}

func union(old, now model) model {
	all := maps.Clone(old)
	maps.Copy(all, now)
	return all
}

func attrs() *rapid.Generator[band.Attr] {
	return rapid.Custom(func(t *rapid.T) band.Attr {
		a := band.Attr{
			Mode:  rapid.SampledFrom([]uint32{0o644, 0o755, 0o4755}).Draw(t, "mode"),
			UID:   rapid.Uint32Max(1).Draw(t, "uid"),
			Mtime: at(rapid.Int64Range(-1, 1).Draw(t, "seconds"), rapid.Int64Range(0, 1).Draw(t, "nanoseconds")),
		}
		if rapid.IntRange(0, 5).Draw(t, "with xattr") == 0 {
			a.Xattrs = []band.Xattr{{Name: "user.a", Value: []byte{rapid.Byte().Draw(t, "value")}}}
		}
		return a
	})
}

func entries() *rapid.Generator[band.Entry] {
	return rapid.Custom(func(t *rapid.T) band.Entry {
		e := band.Entry{Attr: attrs().Draw(t, "attr")}
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0:
			e.Kind, e.Reason = band.Unknown, band.UnknownReason(rapid.IntRange(1, 3).Draw(t, "reason"))
		case 1:
			e.Kind, e.Target = band.Symlink, rapid.SampledFrom([]string{"", "a", "../b"}).Draw(t, "target")
		case 2, 3, 4, 5:
			e.Kind = band.Dir
		default:
			e.Kind = band.File
			if e.Size = rapid.Int64Range(0, 2).Draw(t, "size"); e.Size > 0 {
				e.Content = band.Ref{Hash: band.Hash{rapid.Byte().Draw(t, "hash") & 3, 1}, Band: rapid.Uint32Max(3).Draw(t, "band")}
			}
		}
		return e
	})
}

// set puts an entry at a path and removes the former one. It does nothing if the parent isn't a
// directory.
func (m model) set(path string, e band.Entry) {
	if m[parent(path)].Kind != band.Dir {
		return
	}
	m.remove(path)
	m[path] = e
}

func (m model) remove(path string) {
	maps.DeleteFunc(m, func(p string, _ band.Entry) bool { return p == path || below(p, path) })
}

// paths generates paths whose order by names isn't that by bytes: "a.b" and "a/b".
func paths() *rapid.Generator[string] {
	name := rapid.SampledFrom([]string{"a", "a.b", "b", "\xff", "a b"})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "names"), "/")
	})
}

func edit(t *rapid.T, m model, most int) {
	for range rapid.IntRange(0, most).Draw(t, "edits") {
		path := paths().Draw(t, "path")
		switch rapid.IntRange(0, 5).Draw(t, "edit") {
		case 0:
			m.remove(path)
		case 1:
			if e, ok := m[parent(path)]; ok {
				e.Attr = attrs().Draw(t, "attr")
				m[parent(path)] = e
			}
		default:
			m.set(path, entries().Draw(t, "entry"))
		}
	}
}

func TestDiffAgainstAModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old := model{"": {Kind: band.Dir, Attr: attrs().Draw(t, "root")}}
		edit(t, old, 40)
		now := maps.Clone(old)
		edit(t, now, 8)
		oldSide, newSide := memory{}, memory{}
		oldRoot, newRoot := old.build(oldSide), now.build(newSide)
		got := map[string]band.ChangeKind{}
		var order []string
		err := band.DiffTrees(context.Background(), oldSide, oldRoot, newSide, newRoot, func(c band.Change) error {
			got[c.Path] = c.Kind
			order = append(order, c.Path)
			check(t, c.Path, c.Old, old)
			check(t, c.Path, c.New, now)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(compare(old, now), got); diff != "" {
			t.Error(diff)
		}
		if !slices.IsSortedFunc(order, byNames) || len(order) != len(got) {
			t.Errorf("visited in the order %q", order)
		}
	})
}

// byNames compares paths in the order of a walk.
func byNames(a, b string) int { return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/")) }

// check compares an entry passed to a visitor with the model's.
func check(t *rapid.T, path string, got *band.Entry, m model) {
	want, ok := m[path]
	if ok != (got != nil) {
		t.Fatalf("%q is there: %v", path, ok)
	}
	if !ok {
		return
	}
	e := *got
	want.Name = path[strings.LastIndex(path, "/")+1:]
	if e.Kind == band.Dir {
		e.Content = band.Ref{}
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("%q: %s", path, diff)
	}
}

func TestWalkAndLookupAgainstAModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := model{"": {Kind: band.Dir, Attr: attrs().Draw(t, "root")}}
		edit(t, m, 40)
		l := memory{}
		root := m.build(l)
		var order []string
		err := band.WalkTree(context.Background(), l, root, func(path string, e band.Entry, dir *band.Directory) error {
			order = append(order, path)
			check(t, path, &e, m)
			if (dir != nil) != (e.Kind == band.Dir) {
				t.Errorf("%q comes with the directory %v", path, dir)
			}
			found, err := band.LookupPath(l, root, path)
			if diff := cmp.Diff(e, found); diff != "" || err != nil {
				t.Error(diff, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Collect(maps.Keys(m))
		slices.SortFunc(want, byNames)
		if len(want) > 0 && want[0] != "" {
			t.Fatal("the root isn't the first")
		}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMergeAgainstAModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sets := rapid.SliceOf(rapid.SliceOf(rapid.Uint32Max(20))).Draw(t, "bands")
		all := map[uint32]bool{}
		for i := range sets {
			slices.Sort(sets[i])
			sets[i] = slices.Compact(sets[i])
			for _, b := range sets[i] {
				all[b] = true
			}
		}
		want := slices.Sorted(maps.Keys(all))
		if got := band.UnionBands(sets...); !slices.Equal(want, got) {
			t.Errorf("%v is merged to %v", sets, got)
		}
	})
}
