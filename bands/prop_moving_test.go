//go:build linux || darwin

package bands_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// TestPropMovingFile checks that a file under constant writes is held in the state of one
// moment, or not at all. Each write fills the file with one letter.
func TestPropMovingFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t, t.TempDir(), treetest.Seeded(1))
	path := filepath.Join(w.tree.Root, "moving")
	w.must(os.WriteFile(path, bytes.Repeat([]byte{'a'}, 1<<20), 0o644))
	var stop atomic.Bool
	var done sync.WaitGroup
	done.Go(func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		for i := 0; err == nil && !stop.Load(); i++ {
			_, err = f.WriteAt(bytes.Repeat([]byte{byte('a' + i%26)}, 1<<20), 0)
			for range i % 7 {
				_, _ = os.ReadFile(path) // takes some time
			}
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Error(err)
		}
	})
	held, times := 0, testkit.Rounds(15, 60)
	for range times {
		var taken capture.Taken
		w.hold(func(h *bands.Held) error {
			var err error
			taken, err = capture.Take(t.Context(), h, capture.TakeOptions{Options: w.opts, Cause: bands.Named, Force: true})
			return err
		})
		var content bytes.Buffer
		err := restore.ReadFile(w.store, taken.Snapshot, "moving", &content)
		if slices.Contains(taken.Moving, "moving") {
			if err == nil {
				t.Errorf("%v: it moved, but is held", taken.Snapshot.Version)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%v: %v", taken.Snapshot.Version, err)
		}
		held++
		data := content.Bytes()
		if len(data) != 1<<20 || bytes.Count(data, data[:1]) != len(data) {
			t.Errorf("%v holds %d bytes of several moments", taken.Snapshot.Version, len(data))
			break
		}
	}
	stop.Store(true)
	done.Wait()
	t.Logf("held %d times of %d", held, times)
}

// TestPropConcurrentOperations takes, restores, deletes and prunes snapshots at once, as several
// processes would, while files are edited. No operation fails, versions are unique, and the
// remaining snapshots are intact.
func TestPropConcurrentOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t, t.TempDir(), treetest.Seeded(2))
	t.Cleanup(func() { treetest.Loosen(w.dir) })
	w.tree.Plain = true
	w.tree.Plant(40)
	w.take(capture.TakeOptions{})
	var mu sync.Mutex
	seen := map[bands.Version]bool{1: true}
	note := func(v bands.Version) {
		mu.Lock()
		defer mu.Unlock()
		if seen[v] {
			t.Errorf("%v is there twice", v)
		}
		seen[v] = true
	}
	var all sync.WaitGroup
	for worker := range 6 {
		all.Go(func() {
			store, err := bands.Open(w.store.Dir())
			for i := 0; err == nil && i < 12; i++ {
				err = doOperation(t, store, w.opts, worker*100+i, note)
			}
			if err != nil {
				t.Errorf("worker %d: %v", worker, err)
			}
		})
	}
	all.Wait()
	damage, err := verify.Run(t.Context(), w.store, 0, nil)
	if err != nil || !damage.OK() {
		t.Errorf("%+v %v", damage, err)
	}
	w.last = slices.Max(slices.Collect(keys(seen)))
	w.take(capture.TakeOptions{})
	w.export(w.last)
}

func keys(m map[bands.Version]bool) func(yield func(bands.Version) bool) {
	return func(yield func(bands.Version) bool) {
		for v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// doOperation does one of several operations, chosen by i.
func doOperation(t *testing.T, store *bands.Store, opts bands.Options, i int, note func(bands.Version)) error {
	t.Helper()
	path := filepath.Join(opts.Root, "made", string(rune('a'+i%26)))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte{byte(i)}, i*10), 0o644); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // a restore may have removed the directory
	}
	if i%5 == 0 { // reading takes no lock
		snapshots, err := store.Snapshots()
		if err != nil && !errors.Is(err, bands.ErrNoSnapshot) {
			return err
		}
		_ = snapshots
		present, err := capture.Scan(t.Context(), store, opts)
		if err != nil {
			return err
		}
		return present.Close()
	}
	h, err := store.Hold(t.Context())
	if err != nil {
		return err
	}
	return errors.Join(doHeldOperation(t, h, opts, i, note), h.Release())
}

func doHeldOperation(t *testing.T, h *bands.Held, opts bands.Options, i int, note func(bands.Version)) error {
	t.Helper()
	versions, err := h.Versions()
	if err != nil {
		return err
	}
	switch i % 7 {
	case 0:
		done, err := restore.Run(t.Context(), h, versions[i%len(versions)], restore.Options{Options: opts})
		if err == nil || errors.Is(err, restore.ErrIncomplete) {
			note(done.Rescue.Version)
			return nil // another worker writes meanwhile
		}
		return err
	case 1:
		if len(versions) > 3 {
			return retention.Delete(h, versions[i%(len(versions)-1)])
		}
		return nil
	case 2:
		_, err := retention.Prune(t.Context(), h, retention.Policy{Now: opts.Now(), Keep: 3})
		return err
	default:
		taken, err := capture.Take(t.Context(), h, capture.TakeOptions{Options: opts, Cause: bands.Auto})
		if err == nil {
			note(taken.Snapshot.Version)
		}
		return err
	}
}
