//go:build linux || darwin

package bands_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// spoil changes a byte of the record of the path in the version, at an offset in the record, in
// the store's folder and the snapshot's.
func (r *rig) spoil(v bands.Version, path string, at int64) {
	r.t.Helper()
	snapshot, err := r.store.Snapshot(v)
	r.must(err)
	root, _ := snapshot.Tree.Ref()
	records, reader := r.store.Loader(snapshot)
	ref := root
	if path != "" {
		e, err := band.LookupPath(records, root, path)
		r.must(err)
		ref = e.Content
		if e.Parts {
			parts, err := records.Parts(e.Content)
			r.must(err)
			ref = parts[0].Ref
		}
	}
	r.must(reader.Close())
	r.spoilRecord(v, ref, at)
}

// spoilPage is spoil for the first page of a large directory.
func (r *rig) spoilPage(v bands.Version, path string, at int64) {
	r.t.Helper()
	snapshot, err := r.store.Snapshot(v)
	r.must(err)
	root, _ := snapshot.Tree.Ref()
	records, reader := r.store.Loader(snapshot)
	e, err := band.LookupPath(records, root, path)
	r.must(err)
	header, err := records.Header(e.Content)
	r.must(errors.Join(err, reader.Close()))
	if len(header.Pages) < 2 {
		r.t.Fatalf("%s has %d pages", path, len(header.Pages))
	}
	r.spoilRecord(v, header.Pages[0].Ref, at)
}

func (r *rig) spoilRecord(v bands.Version, ref band.Ref, at int64) {
	r.t.Helper()
	var changed []os.FileInfo
	for _, dir := range []string{r.store.BandsDir(), r.store.SnapshotDir(v)} {
		f, err := os.OpenFile(filepath.Join(dir, band.FileName(ref.Band)), os.O_RDWR, 0)
		r.must(err)
		info, err := f.Stat()
		r.must(err)
		if len(changed) == 0 || !os.SameFile(changed[0], info) {
			b := make([]byte, 1)
			_, err = f.ReadAt(b, int64(ref.Offset)+at)
			b[0] ^= 0x10
			_, wrote := f.WriteAt(b, int64(ref.Offset)+at)
			r.must(errors.Join(err, wrote))
		}
		changed = append(changed, info)
		r.must(f.Close())
	}
}

// Damage in the store never loses a file of the tree: a restore detects it before it overwrites
// or deletes the file that the record is needed for. The record is repaired from the tree, so
// that former snapshots have it again, too.
func TestDamageIsRepairedFromTree(t *testing.T) {
	t.Parallel()
	for name, test := range testkit.ShortTable(map[string]struct {
		path string
		at   int64
		// between runs before the restore.
		between func(r *rig)
	}{
		"a file that is untouched":         {"work", 60, func(*rig) {}},
		"a file that was touched":          {"work", 60, func(r *rig) { now := time.Now(); r.must(os.Chtimes(r.path("work"), now, now)) }},
		"the hash of a file's record":      {"work", 20, func(*rig) {}},
		"the length of a file's record":    {"work", 8, func(*rig) {}},
		"the magic of a file's record":     {"work", 0, func(*rig) {}},
		"a file of a band without a table": {"work", 60, func(r *rig) { r.must(os.Remove(r.stored("dedupe"))) }},
		"a directory":                      {"dir", 60, func(*rig) {}},
		"the root":                         {"", 60, func(*rig) {}},
		"a part of a large file":           {"large", 60, func(*rig) {}},
		"a part of a large file, touched": {"large", 60, func(r *rig) {
			now := time.Now()
			r.must(os.Chtimes(r.path("large"), now, now))
		}},
	}, 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rigWithFiles(t)
			first := r.take()
			r.write("work", noise(3000))
			r.write("large", noise(5 << 20)[1:])
			r.write("dir/more", "more")
			second := r.take()
			was := r.model()
			r.spoil(second, test.path, test.at)
			test.between(r)
			want := r.model()
			r.auto()
			r.restore(first, restore.Scope{})
			h := r.hold()
			_, err := restore.Undo(t.Context(), h, restore.Options{Options: r.opts})
			r.must(errors.Join(err, h.Release()))
			if diff := treetest.Diff(want, r.model()); diff != "" {
				t.Error(diff)
			}
			damage, err := verify.Run(t.Context(), r.store, 0, nil)
			if err != nil || !damage.OK() {
				t.Errorf("%+v, %v", damage, err)
			}
			if left, err := r.store.Damaged(); err != nil || len(left) > 0 {
				t.Errorf("still listed as damaged: %v, %v", left, err)
			}
			r.holds(second, was)
		})
	}
}

// Damaged records found by verify are repaired by the next snapshot if the tree has their
// content, and stay on the list otherwise.
func TestVerifiedDamageIsRepaired(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	r.write("gone", strings.Repeat("gone ", 100))
	r.write("here", strings.Repeat("here ", 100))
	v := r.take()
	r.spoil(v, "gone", 55)
	r.spoil(v, "here", 55)
	r.remove("gone")
	damage, err := verify.Run(t.Context(), r.store, 0, nil)
	if err != nil || len(damage.Bad) != 2 {
		t.Fatalf("%+v, %v", damage, err)
	}
	h := r.hold()
	r.must(errors.Join(h.NoteDamage(damage.Damaged()), h.Release()))
	r.takeAndCheck()
	if damage, err = verify.Run(t.Context(), r.store, 0, nil); err != nil || len(damage.Bad) != 1 || damage.Bad[0].Lost[0].Path != "gone" {
		t.Errorf("%+v, %v", damage, err)
	}
	if left, err := r.store.Damaged(); err != nil || len(left) != 1 {
		t.Errorf("listed as damaged: %v, %v", left, err)
	}
}

// A page of a large directory is a record like others: if it is damaged, it is repaired from the
// tree before a restore relies on a rescue that has it, even if nothing else of the directory is
// stored or restored. If the tree has changed there, former snapshots have lost the content of
// the page, and later ones nothing.
func TestDamagedPageIsRepairedFromTree(t *testing.T) {
	t.Parallel()
	whole := func(r *rig) { r.must(os.RemoveAll(r.path("many"))) }
	one := func(r *rig) { r.remove("many/0500") }
	for name, test := range testkit.ShortTable(map[string]struct {
		at int64
		// before prepares the tree of the first snapshot; between runs before that snapshot is
		// restored.
		before, between func(r *rig)
		lost            bool
	}{
		"untouched":                {60, whole, func(*rig) {}, false},
		"untouched, and restored":  {60, one, func(*rig) {}, false},
		"the hash in its header":   {20, whole, func(*rig) {}, false},
		"another page changed":     {60, one, func(r *rig) { r.write("many/0699", "changed") }, false},
		"read anew":                {60, whole, func(r *rig) { r.must(os.Remove(r.stored("stat-" + r.opts.Lineage))) }, false},
		"an entry of it changed":   {60, whole, func(r *rig) { r.write("many/0001", "changed") }, true},
		"a name of it went":        {60, one, func(r *rig) { r.remove("many/0000") }, true},
		"it is of another content": {60, whole, func(r *rig) { r.remove("many"); r.write("many/0000", "new") }, true},
	}, 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rigWithFiles(t)
			for i := range 700 {
				r.write(fmt.Sprintf("many/%04d", i), "same")
			}
			test.before(r)
			first := r.take()
			for i := range 700 {
				r.write(fmt.Sprintf("many/%04d", i), "same")
			}
			second := r.take()
			was := r.model()
			r.spoilPage(second, "many", test.at)
			test.between(r)
			want := r.model()
			r.auto()
			r.restore(first, restore.Scope{})
			r.undo(restore.Scope{})
			if diff := treetest.Diff(want, r.model()); diff != "" {
				t.Error(diff)
			}
			damage, err := verify.Run(t.Context(), r.store, 0, nil)
			r.must(err)
			if test.lost {
				if len(damage.Bad) != 1 || !cmp.Equal(damage.Bad[0].Lost, []verify.LostPath{{Path: "many", Versions: []bands.Version{second}}}) {
					t.Errorf("%+v", damage)
				}
				return
			}
			if !damage.OK() {
				t.Errorf("%+v", damage)
			}
			if left, err := r.store.Damaged(); err != nil || len(left) > 0 {
				t.Errorf("still listed as damaged: %v, %v", left, err)
			}
			r.holds(second, was)
		})
	}
}
