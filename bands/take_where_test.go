//go:build linux || darwin

package bands_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
)

func TestTakeRefusesRoots(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	home := r.opts.Home
	r.must(errors.Join(os.MkdirAll(filepath.Join(home, "project"), 0o755), os.Symlink(home, r.path("link"))))
	for root, want := range map[string]error{
		"/": bands.ErrRefusedRoot, home: bands.ErrRefusedRoot, home + "/": bands.ErrRefusedRoot,
		filepath.Dir(home): bands.ErrRefusedRoot, r.path("link"): bands.ErrRefusedRoot, "relative": bands.ErrRefusedRoot,
		filepath.Join(home, "project"): nil, r.root: nil, r.path("missing"): os.ErrNotExist,
	} {
		o := r.opts
		o.Root = root
		_, err := r.tryTake(capture.TakeOptions{Options: o})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", root, err, want)
		}
		_, err = capture.Scan(t.Context(), r.store, o)
		if !errors.Is(err, want) {
			t.Errorf("scan %s: %v, want %v", root, err, want)
		}
	}
}

func TestTakeEntersNeitherStoresNorWorktrees(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	inside, err := bands.Create(r.path("dir/.store"))
	r.must(err)
	foreign, err := bands.Create(r.path("nested/.git/entire/store"))
	r.must(err)
	r.write("trees/linked/file", "x")
	r.write(".git/HEAD", "x")
	r.write("dir/.git", "a submodule's")
	r.store = inside
	r.opts.Worktrees = []string{r.path("trees/linked"), filepath.Join(r.opts.Home, "elsewhere")}
	taken := r.auto()
	var held, unknown []string
	records, reader := r.store.Loader(taken.Snapshot)
	ref, _ := taken.Snapshot.Tree.Ref()
	err = band.WalkTree(t.Context(), records, ref, func(path string, e band.Entry, _ *band.Directory) error {
		switch e.Kind {
		case band.Unknown:
			unknown = append(unknown, path)
		case band.File:
			held = append(held, path)
		default:
		}
		return nil
	})
	r.must(errors.Join(err, reader.Close()))
	if diff := cmp.Diff([]string{"dir/.git", "dir/deep/five", "dir/four", "dir/three", "one", "other/six", "two"}, held); diff != "" {
		t.Error(diff)
	}
	for _, path := range unknown {
		if path != "trees/linked" && !strings.HasPrefix(path, "nested/.git/entire/store/") {
			t.Errorf("%s is unknown", path)
		}
	}
	if again := r.auto(); !again.Unchanged {
		t.Errorf("the store itself counts: %d changes", again.Changes)
	}
	// The worktree is removed, its folder stays.
	r.opts.Worktrees = nil
	if taken := r.auto(); taken.Unchanged {
		t.Error("what was a worktree isn't taken")
	}
	if foreign.Dir() == "" {
		t.Error("no foreign store")
	}
}

func TestTakeWithoutRoomForIgnored(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	for name, size := range map[string]int{"cache": 4 << 20, "dist/a": 3 << 20, "dist/b": 3 << 20, "small": 2 << 20} {
		r.write(name+"/file", noise(size))
	}
	var asked int
	r.opts.Ignored = func(_ context.Context, dirs []string) ([]string, error) {
		asked++
		var list []string
		for _, dir := range dirs {
			if slices.Contains([]string{"cache", "dist", "dist/a", "dist/b", "small"}, dir) {
				list = append(list, dir)
			}
		}
		return list, nil
	}
	r.opts.Cap = 7 << 20
	first := r.auto()
	if diff := cmp.Diff([]string{"dist"}, first.Snapshot.LeftOut); diff != "" {
		t.Error(diff)
	}
	// A directory that was left out stays so without another query, and is reported again.
	r.write("one", "changed")
	if second := r.auto(); asked != 1 || second.Snapshot.Added > 5000 || !slices.Equal(second.Snapshot.LeftOut, []string{"dist"}) {
		t.Errorf("asked %d times, %+v", asked, second.Snapshot)
	}
	// More data than fits is added: the choice is made again.
	r.write("small/more", noise(2<<20))
	r.opts.Cap = 7<<20 + 1 // the store itself has grown too
	third, err := r.tryTake(capture.TakeOptions{Options: r.opts, Cause: bands.Auto})
	if !errors.Is(err, bands.ErrNoRoom) && !slices.Equal(third.Snapshot.LeftOut, []string{"cache", "dist"}) {
		t.Errorf("left out %q, %v", third.Snapshot.LeftOut, err)
	}
	// Force takes everything.
	want := r.model()
	all, err := r.tryTake(capture.TakeOptions{Options: r.opts, Cause: bands.Rescue, Force: true})
	r.must(err)
	if len(all.Snapshot.LeftOut) > 0 {
		t.Errorf("left out %q", all.Snapshot.LeftOut)
	}
	r.holds(all.Snapshot.Version, want)
}

func TestNoRoom(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(o *bands.Options){
		"nothing is ignored":   func(o *bands.Options) { o.Cap = 1000 },
		"the floor is reached": func(o *bands.Options) { o.Floor = 1 << 60 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rigWithFiles(t)
			r.write("much", noise(100_000))
			o := r.opts
			change(&o)
			if _, err := r.tryTake(capture.TakeOptions{Options: o, Cause: bands.Auto}); !errors.Is(err, bands.ErrNoRoom) {
				t.Errorf("%v", err)
			}
			taken, err := r.tryTake(capture.TakeOptions{Options: o, Cause: bands.Named, Force: true})
			r.must(err)
			r.holds(taken.Snapshot.Version, r.model())
		})
	}
}

func TestTakeAtCap(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	r.opts.Cap = 2 << 20
	for i := range 5 {
		r.write("one", noise(500_000 + i)[i:])
		taken, err := r.tryTake(capture.TakeOptions{Options: r.opts, Cause: bands.Auto})
		if errors.Is(err, bands.ErrNoRoom) && i > 1 {
			return
		}
		r.must(err)
		r.holds(taken.Snapshot.Version, r.model())
	}
	t.Error("the store grows over its cap")
}

func TestExcludedPatterns(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, path string
		file, dir     bool
	}{
		{"node_modules", "node_modules", true, true},
		{"node_modules", "a/b/node_modules", true, true},
		{"node_modules/", "a/node_modules", false, true},
		{"*.log", "a/x.log", true, true},
		{"*.log", "a/x.logs", false, false},
		{"/build", "build", true, true},
		{"/build", "a/build", false, false},
		{"build/out", "build/out", true, true},
		{"build/out", "a/build/out", false, false},
		{"a/**/z", "a/z", true, true},
		{"a/**/z", "a/b/c/z", true, true},
		{"**/z", "a/z", true, true},
		{"a/*", "a/b", true, true},
		{"a/*", "a/b/c", false, false},
		{`/a\*b`, "a*b", true, true},
		{`/a\*b`, "axb", false, false},
		{"[", "[", false, false},
		{"", "a", false, false},
		{"/", "a", false, false},
	} {
		dir, name := filepath.Split(tc.path)
		o := bands.Options{Root: "/r", Exclude: []string{tc.pattern}}
		dir = strings.TrimSuffix(dir, "/")
		if got := leavesOut(o, dir, name, false); got != tc.file {
			t.Errorf("%q leaves out the file %q: %v", tc.pattern, tc.path, got)
		}
		if got := leavesOut(o, dir, name, true); got != tc.dir {
			t.Errorf("%q leaves out the directory %q: %v", tc.pattern, tc.path, got)
		}
	}
}

func TestScanAgreesWithTake(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	r.write("large", noise(5<<20))
	r.take()
	r.write("dir/three", "changed")
	r.write("new/file", "new")
	r.remove("one")
	r.write("large", noise(5<<20+1))
	before := listed(t, r.store.Dir())
	present, err := capture.Scan(t.Context(), r.store, r.opts)
	r.must(err)
	if diff := cmp.Diff(before, listed(t, r.store.Dir())); diff != "" {
		t.Errorf("a scan writes: %s", diff)
	}
	if present.Base != 1 || present.Totals.Files != 8 {
		t.Errorf("base %s, totals %+v", present.Base, present.Totals)
	}
	taken := r.auto()
	records, reader := r.store.Loader(taken.Snapshot)
	ref, _ := taken.Snapshot.Tree.Ref()
	err = band.DiffTrees(t.Context(), records, ref, present.Loader, present.Tree, func(c band.Change) error {
		if c.Path != "large" { // its parts aren't stored yet
			t.Errorf("%s differs: %+v", c.Path, c)
		}
		return nil
	})
	r.must(errors.Join(err, reader.Close()))
	if entry, err := band.LookupPath(present.Loader, present.Tree, "large"); err != nil || entry.Kind == 0 {
		t.Errorf("large: %+v, %v", entry, err)
	}
	r.must(present.Close())
}

// listed returns the files of a directory with their times.
func listed(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	all := map[string]time.Time{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			all[path] = info.ModTime()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
