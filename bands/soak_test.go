//go:build soak && (linux || darwin)

package bands_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// TestSoak takes 10,000 snapshots (or SOAK_SNAPSHOTS) of a tree that changes all
// the time, as an agent's stops would, under a cap that holds few of them. The
// last are as fast as the first, the store stays within its cap, and what the
// user named is there in the end.
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
	w.tree.Plant(300)
	now := time.Now()
	w.opts.Now = func() time.Time { return now }
	w.opts.Cap = limit
	var took []time.Duration
	most, named := int64(0), 0
	for i := range count {
		now = now.Add(97 * time.Second)
		w.soakEdit(i)
		o := bands.TakeOptions{Cause: bands.Auto, SkipUnchanged: true}
		if i%1000 == 0 {
			o = bands.TakeOptions{Message: "named"}
			named++
		}
		w.take(o)
		began := time.Now()
		w.thin(now)
		took = append(took, w.took+time.Since(began))
		if i%100 == 99 {
			size, err := w.store.Size()
			w.must(err)
			most = max(most, size)
		}
		for v := range w.holds {
			if v < w.last-1 {
				delete(w.holds, v) // the models would fill the memory
			}
		}
	}
	first, last := middle(took[edge/2:edge]), middle(took[len(took)-edge/2:])
	snapshots, err := w.store.Snapshots()
	w.must(err)
	fmt.Printf("%d snapshots, %d of them kept, at most %d MB: the first %v, the last %v\n", count, len(snapshots), most>>20, first, last)
	if float64(last) > 1.5*float64(first)+float64(time.Millisecond) {
		t.Errorf("the last took %v, the first %v", last, first)
	}
	if most > limit+limit/10 {
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
	damage, err := w.store.Verify(t.Context(), 0, nil)
	if err != nil || !damage.OK() {
		t.Errorf("verify: %+v %v", damage, err)
	}
	w.holds = map[bands.Version]treetest.Model{w.last: w.holds[w.last]}
	w.export(w.last)
}

// soakEdit changes a few files, one of them to what can't be made smaller.
func (w *world) soakEdit(i int) {
	w.tree.Edit(2)
	if len(w.holds[w.last]) < 200 {
		w.tree.Plant(20)
	}
	data := make([]byte, 20_000)
	r := rand.New(rand.NewPCG(uint64(i), 3))
	for at := range data {
		data[at] = byte(r.Uint32())
	}
	w.must(os.WriteFile(filepath.Join(w.tree.Root, fmt.Sprintf("soak-%d", i%50)), data, 0o644))
}

// thin is what a stop's child does after a snapshot.
func (w *world) thin(now time.Time) {
	w.tb.Helper()
	w.hold(func(h *bands.Held) error {
		_, err := h.MaybePrune(w.ctx.Context(), bands.Policy{Now: now, Cap: w.opts.Cap})
		return err
	})
}

func middle(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
