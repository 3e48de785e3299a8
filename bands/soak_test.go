//go:build soak && (linux || darwin)

package bands_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// TestSoak takes 10,000 snapshots (or SOAK_SNAPSHOTS) of a constantly changing tree, as at an
// agent's stops, under a cap that holds few of them. The last ones are as fast as the first, the
// store stays within its cap, and the named snapshots still exist in the end.
func TestSoak(t *testing.T) {
	const (
		limit = 48 << 20
		edge  = 200
	)
	count := 10_000
	if text := os.Getenv("SOAK_SNAPSHOTS"); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil || count < 2*edge {
			t.Fatalf("SOAK_SNAPSHOTS=%q: at least %d", text, 2*edge)
		}
	}
	w := newWorld(t, t, t.TempDir(), treetest.Seeded(1))
	t.Cleanup(func() { treetest.Loosen(w.dir) })
	w.tree.Plain = true
	w.tree.Plant(300)
	now := time.Now()
	w.opts.Now = func() time.Time { return now }
	w.opts.Cap = limit
	var took []time.Duration
	most, named := int64(0), 0
	for i := range count {
		now = now.Add(97 * time.Second)
		w.soakEdit(i)
		o := capture.TakeOptions{Cause: bands.Auto, SkipUnchanged: true}
		if i%1000 == 0 {
			o = capture.TakeOptions{Cause: bands.Named}
			named++
		}
		began := time.Now()
		w.stop(o, now)
		took = append(took, time.Since(began))
		if i%100 == 99 {
			size, err := w.store.Size()
			w.must(err)
			most = max(most, size)
		}
	}
	first, last := median(took[edge/2:edge]), median(took[len(took)-edge/2:])
	snapshots, err := w.store.Snapshots()
	w.must(err)
	fmt.Printf("%d snapshots, %d of them kept, at most %d MB: the first %v, the last %v\n", count, len(snapshots), most>>20, first, last)
	if float64(last) > 1.5*float64(first)+float64(time.Millisecond) {
		t.Errorf("the last took %v, the first %v", last, first)
	}
	if most > limit+limit/20 { // the store is thinned after a snapshot
		t.Errorf("it took %d MB with a cap of %d MB", most>>20, limit>>20)
	}
	kept := 0
	for _, s := range snapshots {
		if s.Cause == bands.Named {
			kept++
		}
	}
	if kept != named {
		t.Errorf("%d of %d named ones are there", kept, named)
	}
	damage, err := verify.Run(t.Context(), w.store, 0, nil)
	if err != nil || !damage.OK() {
		t.Errorf("verify: %+v %v", damage, err)
	}
	w.last = snapshots[len(snapshots)-1].Version
	w.take(capture.TakeOptions{})
	w.export(w.last)
}

// soakEdit changes a few files and writes one whose content doesn't compress.
func (w *world) soakEdit(i int) {
	w.tree.Edit(2)
	if i%100 == 0 {
		w.tree.Plant(300 - len(w.tree.Read())) // up to the former number
	}
	data := make([]byte, 20_000)
	r := rand.New(rand.NewPCG(uint64(i), 3))
	for at := range data {
		data[at] = byte(r.Uint32())
	}
	path := filepath.Join(w.tree.Root, fmt.Sprintf("soak-%d", i%50))
	w.must(errors.Join(os.RemoveAll(path), os.WriteFile(path, data, 0o644))) // it may be a symlink by now
}

// stop does the work of a stop's child process: a snapshot, then thinning. A snapshot without
// room is retried after making room.
func (w *world) stop(o capture.TakeOptions, now time.Time) {
	w.tb.Helper()
	o.Options = w.opts
	o.Force = o.Cause == bands.Named
	w.hold(func(h *bands.Held) error {
		policy := retention.Policy{Now: now, Cap: w.opts.Cap}
		_, err := capture.Take(w.ctx.Context(), h, o)
		if errors.Is(err, bands.ErrNoRoom) {
			if _, err := retention.MakeRoom(w.ctx.Context(), h, policy); err != nil {
				return err
			}
			_, err = capture.Take(w.ctx.Context(), h, o)
		}
		if err != nil {
			return err
		}
		_, err = retention.MaybePrune(w.ctx.Context(), h, policy)
		return err
	})
}

func median(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
