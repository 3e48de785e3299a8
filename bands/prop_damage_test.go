//go:build linux || darwin

package bands_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// TestPropDamage damages a file of a store. Changed data is never treated as valid: an export is
// right or fails, and Verify reports the damage that makes it fail. Files that only make
// snapshots fast may have any content. After the caches are dropped, a snapshot can always be
// taken.
func TestPropDamage(t *testing.T) {
	t.Parallel()
	create := worlds(t)
	rapid.Check(t, func(r *rapid.T) {
		w := create(r)
		w.tree.Plain = true
		w.tree.Plant(12)
		w.take(capture.TakeOptions{})
		w.tree.Edit(8)
		w.take(capture.TakeOptions{})
		file := rapid.SampledFrom(w.storeFiles()).Draw(r, "file")
		damage(r, file)
		var err error
		name, _ := filepath.Rel(w.store.Dir(), file)
		if w.store, err = bands.Open(w.store.Dir()); err != nil {
			if !strings.HasPrefix(name, "store.json") {
				r.Fatalf("open, with %s damaged: %v", name, err)
			}
			return
		}
		w.checkDamaged(name)
		w.tree.Edit(2)
		if !disposable(name) {
			w.hold((*bands.Held).DropCaches)
		}
		v := w.take(capture.TakeOptions{}).Snapshot.Version
		w.export(v)
	})
}

// disposable reports whether a file of the store can be damaged without a loss of data.
func disposable(name string) bool {
	return name == "dedupe" || name == "lock" || strings.HasPrefix(name, "stat-") || strings.HasPrefix(name, "latest-")
}

// storeFiles returns the store's files and symlinks, sorted.
func (w *world) storeFiles() []string {
	w.tb.Helper()
	var list []string
	w.must(filepath.WalkDir(w.store.Dir(), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && entry.Name() != "CACHEDIR.TAG" {
			list = append(list, path)
		}
		return err
	}))
	slices.Sort(list)
	return list
}

// damage changes or removes a file in a random way.
func damage(r *rapid.T, path string) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		_ = os.Remove(path)
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		r.Fatal(err)
	}
	way := rapid.SampledFrom([]string{"flip", "cut", "zero", "garbage", "gone", "longer", "empty"}).Draw(r, "way")
	at := 0
	if len(data) > 0 {
		at = rapid.IntRange(0, len(data)-1).Draw(r, "at")
	}
	switch way {
	case "flip":
		if len(data) > 0 {
			data[at] ^= 1 << rapid.IntRange(0, 7).Draw(r, "bit")
		}
	case "cut":
		data = data[:at]
	case "zero":
		clear(data[at:min(at+4096, len(data))])
	case "garbage":
		data = []byte("\x00\xff{garbage")
	case "longer":
		data = append(data, 0xff)
	case "empty":
		data = nil
	}
	if way == "gone" {
		err = os.Remove(path)
	} else {
		err = os.WriteFile(path, data, 0o600) // in place: hard links to it change too
	}
	if err != nil {
		r.Fatal(err)
	}
}

// checkDamaged checks that each version is exported as it was taken, or that the export fails
// and Verify reports damage.
func (w *world) checkDamaged(name string) {
	w.tb.Helper()
	found, err := verify.Run(w.ctx.Context(), w.store, 0, nil)
	told := err != nil || !found.OK()
	if told && disposable(name) {
		w.tb.Fatalf("%s is disposable, but verify: %+v %v", name, found, err)
	}
	for v, model := range w.holds {
		to := filepath.Join(w.dir, "maybe")
		snapshot, err := w.store.Snapshot(v)
		if err == nil {
			_, err = restore.Export(w.ctx.Context(), w.store, snapshot, to, restore.ExportOptions{})
		}
		if err != nil && !told {
			w.tb.Fatalf("%s is damaged and %v can't be exported, but verify finds nothing: %v", name, v, err)
		}
		if err == nil {
			if diff := treetest.Diff(model, treetest.Read(w.tb, to), "."); diff != "" {
				w.tb.Fatalf("%s is damaged, and %v isn't what it was:\n%s", name, v, diff)
			}
		}
		treetest.Loosen(to)
		w.must(os.RemoveAll(to))
	}
}
