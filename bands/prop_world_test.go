//go:build linux || darwin

package bands_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// world is a tree, a store for it, and the expected content of each snapshot.
type world struct {
	tb    testkit.TB
	ctx   contexter
	dir   string
	out   string // directory for exports
	tree  *treetest.Tree
	store *bands.Store
	opts  bands.Options
	holds map[bands.Version]treetest.Model
	last  bands.Version // the highest ever taken
}

// newWorld makes the directory dir with an empty tree and a new store in it.
func newWorld(tb testkit.TB, ctx contexter, dir string, src treetest.Source) *world {
	tb.Helper()
	w := &world{tb: tb, ctx: ctx, dir: dir, out: dir, holds: map[bands.Version]treetest.Model{}}
	for _, name := range []string{"tree", "home"} {
		w.must(os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	w.tree = treetest.New(tb, filepath.Join(dir, "tree"), src)
	var err error
	w.store, err = bands.Create(filepath.Join(dir, "store"))
	w.must(err)
	w.opts = options(dir)
	return w
}

func options(dir string) bands.Options {
	return bands.Options{
		Root: filepath.Join(dir, "tree"), Lineage: bands.PlainLineage, Cap: 1 << 40, Floor: 1,
		Now: time.Now, Home: filepath.Join(dir, "home"),
	}
}

func (w *world) must(err error) {
	w.tb.Helper()
	if err != nil {
		w.tb.Fatalf("%v", err)
	}
}

// hold calls do while the store is held.
func (w *world) hold(do func(h *bands.Held) error) {
	w.tb.Helper()
	h, err := w.store.Hold(w.ctx.Context())
	w.must(err)
	err = do(h)
	w.must(errors.Join(err, h.Release()))
}

// take takes a snapshot and records its expected content.
func (w *world) take(o capture.TakeOptions) capture.Taken {
	w.tb.Helper()
	o.Options = w.opts
	if o.Cause == "" {
		o.Cause, o.Force = bands.Named, true
	}
	model := w.tree.Read()
	var taken capture.Taken
	w.hold(func(h *bands.Held) error {
		var err error
		taken, err = capture.Take(w.ctx.Context(), h, o)
		return err
	})
	if len(taken.Moving)+len(taken.Unreadable) > 0 {
		w.tb.Fatalf("nothing moves, all can be read: %q %q", taken.Moving, taken.Unreadable)
	}
	if taken.Unchanged {
		return taken
	}
	if v := taken.Snapshot.Version; v <= w.last {
		w.tb.Fatalf("%v was taken after %v", v, w.last)
	}
	w.last = taken.Snapshot.Version
	w.holds[w.last] = model
	return taken
}

func (w *world) restoreOptions() restore.Options {
	return restore.Options{Options: w.opts, Scope: restore.Scope{Nested: true}}
}

// restore restores a version and compares the tree with its content.
func (w *world) restore(v bands.Version) {
	w.tb.Helper()
	present := w.tree.Read()
	w.change(fmt.Sprintf("restore %v", v), w.holds[v], present, func(h *bands.Held) (restore.Result, error) {
		return restore.Run(w.ctx.Context(), h, v, w.restoreOptions())
	})
}

// change calls do, which must change the tree from present to target.
func (w *world) change(what string, target, present treetest.Model, do func(h *bands.Held) (restore.Result, error)) {
	w.tb.Helper()
	want, loose := treetest.Restored(target, present)
	now := w.tree.Read()
	var done restore.Result
	w.hold(func(h *bands.Held) error {
		var err error
		done, err = do(h)
		if errors.Is(err, restore.ErrIncomplete) && obstructed(target, present) {
			err = nil
		}
		if err != nil {
			err = fmt.Errorf("%s: %w: %v", what, err, done.Failed)
		}
		return err
	})
	if v := done.Rescue.Version; v > w.last {
		w.last = v
		w.holds[v] = now
	}
	if diff := treetest.Diff(want, w.tree.Read(), loose...); diff != "" {
		w.tb.Fatalf("%s:\n%s", what, diff)
	}
}

// obstructed reports whether an entry that snapshots don't hold is in the place of an entry of
// the target.
func obstructed(target, present treetest.Model) bool {
	for path, node := range present {
		if node.Kind.Held() {
			continue
		}
		if was, ok := target[path]; ok && was.Kind.Held() {
			return true
		}
		for up := filepath.Dir(path); ; up = filepath.Dir(up) {
			if was, ok := target[up]; ok && was.Kind != treetest.Dir {
				return true
			}
			if up == "." {
				break
			}
		}
	}
	return false
}

// check verifies the store and its list of snapshots, and exports the newest and the oldest one.
func (w *world) check() {
	w.tb.Helper()
	damage, err := verify.Run(w.ctx.Context(), w.store, 0, nil)
	w.must(err)
	if !damage.OK() {
		w.tb.Fatalf("damaged: %+v", damage)
	}
	versions, err := w.store.Versions()
	w.must(err)
	want := w.versions()
	if !slices.Equal(versions, want) {
		w.tb.Fatalf("there are %v, want %v", versions, want)
	}
	for i, v := range want {
		if i == 0 || i == len(want)-1 {
			w.export(v)
		}
	}
}

func (w *world) versions() []bands.Version {
	list := make([]bands.Version, 0, len(w.holds))
	for v := range w.holds {
		list = append(list, v)
	}
	slices.Sort(list)
	return list
}

// export exports a version and compares the result with the expected content.
func (w *world) export(v bands.Version) {
	w.tb.Helper()
	snapshot, err := w.store.Snapshot(v)
	w.must(err)
	to := filepath.Join(w.out, "export")
	exported, err := restore.Export(w.ctx.Context(), w.store, snapshot, to, restore.ExportOptions{})
	if err != nil {
		w.tb.Fatalf("export %v: %v: %v", v, err, exported.Failed)
	}
	want := treetest.Model{}
	for path, node := range w.holds[v] {
		if node.Kind.Held() {
			want[path] = node
		}
	}
	if diff := treetest.Diff(want, treetest.Read(w.tb, to), "."); diff != "" {
		w.tb.Fatalf("export %v:\n%s", v, diff)
	}
	treetest.Loosen(to)
	w.must(os.RemoveAll(to))
}

// checkNoLeftovers checks that the store has no leftovers of interrupted runs.
func (w *world) checkNoLeftovers() {
	w.tb.Helper()
	for _, name := range []string{"", "checkpoints", "bands"} {
		entries, err := os.ReadDir(filepath.Join(w.store.Dir(), name))
		w.must(err)
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name(), ".") || strings.Contains(entry.Name(), "tmp") {
				w.tb.Fatalf("left over: %s", filepath.Join(name, entry.Name()))
			}
		}
	}
}

// remove removes the world's directory.
func (w *world) remove() {
	treetest.Loosen(w.dir)
	_ = os.RemoveAll(w.dir)
}
