//go:build linux || darwin

package bands_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestCreateAndOpen(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "store")
	if _, err := bands.Open(dir); !errors.Is(err, bands.ErrNoStore) {
		t.Errorf("before: %v", err)
	}
	made, err := bands.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bands.Create(dir); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	opened, err := bands.Open(dir)
	if err != nil || opened.Linking() != made.Linking() || opened.Dir() != dir {
		t.Errorf("%+v, %v", opened, err)
	}
	for path, want := range map[string]fs.FileMode{"": 0o700, "bands": 0o700, "checkpoints": 0o700, "store.json": 0o600, "CACHEDIR.TAG": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for text, want := range map[string]error{"": bands.ErrDamaged, "{": bands.ErrDamaged, "{}": bands.ErrDamaged, `{"format":3,"linking":"copy"}`: nil} {
		if err := os.WriteFile(filepath.Join(dir, "store.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := bands.Open(dir); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("store.json %q: %v", text, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "store.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := made.Hold(t.Context()); !errors.Is(err, bands.ErrNoStore) {
		t.Errorf("a store that has gone: %v", err)
	}
	if _, err := bands.Create(dir); err != nil {
		t.Errorf("completed: %v", err)
	}
}

func TestHoldIsExclusive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	h := r.hold()
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := r.store.Hold(soon); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("%v", err)
	}
	r.must(h.Release())
	r.must(r.hold().Release())
}

// Each state is one that a kill can leave, in the order of a snapshot's writes.
func TestStoreAfterKill(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(r *rig){
		"a record that nobody names": func(r *rig) {
			w, err := band.NewWriter(r.store.BandsDir(), band.WriterOptions{})
			r.must(err)
			_, err = w.Add(band.DataRecord, []byte("content of a snapshot that never came to be"))
			r.must(errors.Join(err, w.Close()))
		},
		"half a record": func(r *rig) {
			r.rewrite(r.tail(), func(data []byte) []byte { return append(data, "half a record"...) })
		},
		"an empty band": func(r *rig) { r.must(os.WriteFile(filepath.Join(r.store.BandsDir(), "1"), nil, 0o600)) },
		"a reserved version": func(r *rig) {
			r.must(os.WriteFile(r.stored("version"), []byte("2 "+r.opts.Lineage+" 1\n"), 0o600))
		},
		"a new version file": func(r *rig) { r.must(os.WriteFile(r.stored("version.entire-tmp-123"), []byte("3"), 0o600)) },
		"half a snapshot": func(r *rig) {
			r.must(errors.Join(os.Mkdir(r.stored(".tmp-v2"), 0o700), os.Link(r.tail(), r.stored(".tmp-v2/0"))))
		},
		"a snapshot that isn't linked": func(r *rig) {
			cache, link := r.save(r.stored("stat-"+r.opts.Lineage)), r.save(r.stored("latest-"+r.opts.Lineage))
			r.write("dir/four", "changed")
			r.auto()
			cache()
			link()
		},
		"half a stat cache": func(r *rig) { r.must(os.WriteFile(r.stored("stat-e3b0c4.tmp"), []byte("ENTSTAT1"), 0o600)) },
		"a new link":        func(r *rig) { r.must(os.Symlink("checkpoints/v1", r.stored("latest-e3b0c4.tmp"))) },
		"half a deleted one": func(r *rig) {
			r.must(os.MkdirAll(r.stored(".deleted-v7"), 0o700))
		},
		"no caches at all": func(r *rig) {
			for _, name := range []string{"stat-e3b0c4", "latest-e3b0c4", "dedupe", "version", "stamp", "lock"} {
				r.must(os.Remove(r.stored(name)))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rigWithFiles(t)
			first := r.model()
			r.take()
			leave(r)
			last, found, err := r.store.Lineage(r.opts.Lineage).Latest()
			r.must(err)
			if !found {
				t.Fatal("the last snapshot is lost")
			}
			r.holds(1, first)
			r.holds(last.Version, r.model())
			r.write("dir/three", "changed after the kill")
			r.write("new", "new")
			taken := r.takeAndCheck()
			if taken.Snapshot.Parent != last.Version || taken.Snapshot.Version <= last.Version {
				t.Errorf("%s has the parent %s, after %s", taken.Snapshot.Version, taken.Snapshot.Parent, last.Version)
			}
			r.holds(1, first)
			damage, err := verify.Run(t.Context(), r.store, 0, nil)
			if err != nil || !damage.OK() {
				t.Errorf("%+v, %v", damage, err)
			}
			if again := r.auto(); !again.Unchanged {
				t.Error("changed again")
			}
			entries, err := os.ReadDir(r.store.Dir())
			r.must(err)
			for _, e := range entries {
				if strings.HasPrefix(e.Name(), ".") || strings.Contains(e.Name(), "tmp") {
					t.Errorf("%s is left", e.Name())
				}
			}
		})
	}
}

func TestDamagedStatCacheIsNotUsed(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	flip := func(data []byte) []byte {
		data[random.IntN(len(data))] ^= 1 << random.IntN(8)
		return data
	}
	hurts := map[string]func(data []byte) []byte{
		"empty":         func([]byte) []byte { return nil },
		"one byte":      func(data []byte) []byte { return data[:1] },
		"half":          func(data []byte) []byte { return data[:len(data)/2] },
		"without end":   func(data []byte) []byte { return data[:len(data)-1] },
		"longer":        func(data []byte) []byte { return append(data, 0) },
		"zeros":         func(data []byte) []byte { return make([]byte, len(data)) },
		"other magic":   func(data []byte) []byte { return append([]byte("ENTSTAT9"), data[8:]...) },
		"other version": func(data []byte) []byte { return append([]byte("ENTSTAT1\x63\x00\x00\x00"), data[12:]...) },
	}
	for i := range 20 {
		hurts[fmt.Sprint("flipped ", i)] = flip
	}
	r := rigWithFiles(t)
	r.take()
	names := make([]string, 0, len(hurts))
	for name := range hurts {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		r.auto()
		r.write("dir/three", fmt.Sprint("edit ", i))
		r.rewrite(r.stored("stat-"+r.opts.Lineage), hurts[name])
		present, err := capture.Scan(t.Context(), r.store, r.opts)
		r.must(err)
		if present.Base != 0 {
			t.Errorf("%s: a damaged cache is used", name)
		}
		r.must(present.Close())
		taken := r.takeAndCheck()
		if taken.Unchanged || taken.Changes == 0 {
			t.Errorf("%s: the edit wasn't seen", name)
		}
		if _, v, ok := statLines(r.store, r.opts.Lineage); !ok || v != taken.Snapshot.Version {
			t.Errorf("%s: the cache is of %s, %v", name, v, ok)
		}
	}
}

func TestStatCacheOfLostSnapshotIsNotUsed(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(r *rig){
		"deleted":     func(r *rig) { r.drop(2) },
		"all deleted": func(r *rig) { r.drop(1, 2) },
		"removed by hand": func(r *rig) {
			r.must(errors.Join(os.RemoveAll(r.stored("checkpoints/v2")), os.RemoveAll(r.store.BandsDir()), os.Mkdir(r.store.BandsDir(), 0o700)))
		},
		"description damaged": func(r *rig) {
			r.rewrite(r.stored("checkpoints/v2/snapshot.json"), func(data []byte) []byte { return data[:len(data)-2] })
		},
		"band gone": func(r *rig) {
			r.must(errors.Join(os.Remove(r.stored("checkpoints/v2/0")), os.Remove(r.stored("bands/0"))))
		},
		"band too short": func(r *rig) {
			r.rewrite(r.stored("checkpoints/v2/0"), func(data []byte) []byte { return data[:len(data)-1] })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rigWithFiles(t)
			r.take()
			r.write("dir/three", "of v2")
			r.take()
			r.auto()
			lose(r)
			r.write("dir/four", "of v3")
			taken := r.takeAndCheck()
			if taken.Unchanged || taken.Snapshot.Version != 3 {
				t.Errorf("%+v", taken.Snapshot)
			}
			damage, err := verify.Run(t.Context(), r.store, taken.Snapshot.Version, nil)
			if err != nil || !damage.OK() {
				t.Errorf("%+v, %v", damage, err)
			}
			r.write("dir/four", "of v4")
			if next := r.takeAndCheck(); next.Snapshot.Version != 4 || next.Snapshot.Added > 3000 {
				t.Errorf("%+v", next.Snapshot)
			}
		})
	}
}

func TestDamagedRecordsAreStoredAgain(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	for i := range 40 {
		r.write(fmt.Sprintf("dir/sub%d/file", i), noise(500+i))
	}
	r.take()
	r.auto()
	// Only bytes of records are damaged.
	r.rewrite(r.tail(), func(data []byte) []byte {
		for at := 100; at < len(data); at += 50 {
			data[at] ^= 0x55
		}
		return data
	})
	r.write("dir/sub7/file", "changed")
	taken := r.takeAndCheck()
	damage, err := verify.Run(t.Context(), r.store, taken.Snapshot.Version, nil)
	if err != nil || !damage.OK() {
		t.Errorf("%+v, %v", damage, err)
	}
}

func TestCachesCanBeDropped(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	r.take()
	h := r.hold()
	r.must(errors.Join(h.DropCaches(), h.DropCaches(), h.Release()))
	if _, err := os.Stat(r.stored("dedupe")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("dedupe: %v", err)
	}
	r.write("one", "changed")
	r.takeAndCheck()
}

func TestChangedDescriptionIsDamaged(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	r.take()
	r.take()
	path := r.stored("checkpoints/v1/snapshot.json")
	whole, err := os.ReadFile(path)
	r.must(err)
	for at := range whole {
		hurt := bytes.Clone(whole)
		hurt[at] ^= 1
		r.must(os.WriteFile(path, hurt, 0o600))
		if _, err := r.store.Snapshot(1); !errors.Is(err, bands.ErrDamaged) {
			t.Fatalf("byte %d (%q): %v", at, whole[at], err)
		}
	}
	for at := range whole {
		r.must(os.WriteFile(path, whole[:at], 0o600))
		if _, err := r.store.Snapshot(1); !errors.Is(err, bands.ErrDamaged) {
			t.Fatalf("the first %d bytes: %v", at, err)
		}
	}
	list, err := r.store.Snapshots()
	if len(list) != 1 || list[0].Version != 2 || !errors.Is(err, bands.ErrDamaged) {
		t.Errorf("%d listed, %v", len(list), err)
	}
	r.must(os.Remove(path))
	if _, err := r.store.Snapshot(1); !errors.Is(err, bands.ErrDamaged) {
		t.Errorf("without: %v", err)
	}
	if _, err := r.store.Snapshot(3); !errors.Is(err, bands.ErrNoSnapshot) {
		t.Errorf("none: %v", err)
	}
}

func TestLatestPerLineage(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	at := func(lineage string) bands.Version {
		t.Helper()
		snapshot, _, err := r.store.Lineage(lineage).Latest()
		r.must(err)
		return snapshot.Version
	}
	const other = "abcdef"
	if at(other) != 0 || at(r.opts.Lineage) != 0 {
		t.Error("there is one already")
	}
	r.take()
	o := r.opts
	o.Lineage = other
	_, err := r.tryTake(capture.TakeOptions{Options: o, Cause: bands.Auto})
	r.must(err)
	r.write("one", "x")
	r.take()
	if a, b := at(r.opts.Lineage), at(other); a != 3 || b != 2 {
		t.Errorf("latest %s and %s", a, b)
	}
	r.drop(3)
	if target, err := os.Readlink(r.stored("latest-" + r.opts.Lineage)); err != nil || target != "checkpoints/v1" {
		t.Errorf("%s, %v", target, err)
	}
	if a, b := at(r.opts.Lineage), at(other); a != 1 || b != 2 {
		t.Errorf("latest %s and %s", a, b)
	}
	r.must(os.Remove(r.stored("latest-" + other)))
	if b := at(other); b != 2 {
		t.Errorf("without link: %s", b)
	}
	r.drop(1, 2)
	if at(other) != 0 || at(r.opts.Lineage) != 0 {
		t.Error("there is one still")
	}
	if v := r.take(); v != 4 {
		t.Errorf("a version came again: %s", v)
	}
	versions, err := r.store.Versions()
	if diff := cmp.Diff([]bands.Version{4}, versions); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestDeleteRemovesBands(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "a file of 40 MB")
	r := rigWithFiles(t)
	big := noise(40 << 20)
	r.write("big", big[:20<<20])
	r.take()
	r.write("big", big[20<<20:])
	r.take()
	r.remove("big")
	want := r.model()
	r.take()
	before := r.bands()
	h := r.hold()
	if err := retention.Delete(h, 2, 9); !errors.Is(err, bands.ErrNoSnapshot) {
		t.Errorf("%v", err)
	}
	r.must(h.Release())
	r.drop(1, 2)
	if after := r.bands(); len(after) >= len(before) || len(after) == 0 {
		t.Errorf("bands %v, before %v", after, before)
	}
	r.holds(3, want)
	r.write("big", big[:20<<20])
	r.takeAndCheck()
	r.drop(4)
	r.holds(3, want)
}

func TestPairs(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	r.take()
	day := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	h := r.hold()
	later := bands.Pair{Checkpoint: "bbbbbbbbbbbb", Commit: "c2", Created: day.Add(time.Hour), Late: true}
	first := bands.Pair{Checkpoint: "cccccccccccc", Commit: "c1", Created: day}
	r.must(errors.Join(h.AddPair(1, later), h.AddPair(1, first), h.AddPair(1, first)))
	for _, id := range []string{"", "../x", "a/b", "a\x00"} {
		if err := h.AddPair(1, bands.Pair{Checkpoint: id}); err == nil {
			t.Errorf("%q is a checkpoint", id)
		}
	}
	if err := h.AddPair(2, first); !errors.Is(err, bands.ErrNoSnapshot) {
		t.Errorf("%v", err)
	}
	r.must(h.Release())
	snapshot, err := r.store.Snapshot(1)
	if diff := cmp.Diff([]bands.Pair{first, later}, snapshot.Pairs); diff != "" || err != nil {
		t.Error(diff, err)
	}
	r.rewrite(r.stored("checkpoints/v1/pair-cccccccccccc.json"), func(data []byte) []byte { return data[:20] })
	snapshot, err = r.store.Snapshot(1)
	if diff := cmp.Diff([]bands.Pair{later}, snapshot.Pairs); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestBandWithTooManyLinksIsCopied(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "makes as many links as there can be")
	r := newRigAt(t, testkit.DiskDir(t))
	r.plant()
	if r.store.Linking() != disk.Hardlink {
		t.Skip("no hard links here")
	}
	want := r.model()
	r.take()
	spare := filepath.Join(filepath.Dir(r.root), "spare")
	r.must(os.Mkdir(spare, 0o755))
	for i := 0; ; i++ {
		err := os.Link(r.tail(), filepath.Join(spare, strconv.Itoa(i)))
		if errors.Is(err, syscall.EMLINK) {
			break
		}
		r.must(err)
		if i > 70_000 {
			t.Skip("any number of links is allowed here")
		}
	}
	r.write("one", "changed")
	r.takeAndCheck()
	r.write("two", "changed")
	r.takeAndCheck()
	r.holds(1, want)
	if entries, err := os.ReadDir(r.store.BandsDir()); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// drop deletes versions.
func (r *rig) drop(versions ...bands.Version) {
	r.t.Helper()
	h := r.hold()
	r.must(errors.Join(retention.Delete(h, versions...), h.Release()))
}

// bands returns the names of the bands.
func (r *rig) bands() []string {
	r.t.Helper()
	files, err := band.Files(r.store.BandsDir())
	r.must(err)
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// tail returns the path of the last band.
func (r *rig) tail() string {
	r.t.Helper()
	names := r.bands()
	return filepath.Join(r.store.BandsDir(), names[len(names)-1])
}
