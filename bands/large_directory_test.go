//go:build linux || darwin

package bands_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// takeWithoutCache checks that a snapshot without the stat cache finds no changes.
func (r *rig) takeWithoutCache(want bands.Version) {
	r.t.Helper()
	r.must(os.Remove(r.stored("stat-" + r.opts.Lineage)))
	if taken := r.auto(); !taken.Unchanged {
		r.t.Errorf("read anew, the tree differs from %s", want)
	}
}

// editLarge changes names in the folder "large" at random.
func (r *rig) editLarge(random *rand.Rand) {
	r.t.Helper()
	for range 1 + random.IntN(4) {
		name := fmt.Sprintf("large/%04d", random.IntN(2600))
		switch random.IntN(7) {
		case 0:
			r.remove(name)
		case 1:
			r.remove(name)
			r.must(os.Mkdir(r.path(name), 0o755))
			r.write(name+"/below", strconv.Itoa(random.Int()))
		case 2:
			r.remove(name)
			r.must(os.Symlink("elsewhere", r.path(name)))
		case 3:
			if names, err := filepath.Glob(r.path("large/*/below")); err == nil && len(names) > 0 {
				r.must(os.WriteFile(names[0], []byte(strconv.Itoa(random.Int())), 0o644))
			}
		case 4:
			if err := os.Rename(r.path(name), r.path(fmt.Sprintf("large/%04d", random.IntN(2600)))); err != nil {
				continue // missing, or a directory has the new name
			}
		case 5:
			r.must(os.RemoveAll(r.path(name)))
			r.write(name, "sparse")
			r.must(os.Truncate(r.path(name), 1<<20))
		default:
			if info, err := os.Lstat(r.path(name)); err == nil && info.IsDir() {
				continue
			}
			r.remove(name)
			r.write(name, strconv.Itoa(random.Int()))
		}
	}
}

func TestLargeDirectoryEdits(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "2,400 files, edited six times")
	for seed := range uint64(1) {
		random := rand.New(rand.NewPCG(seed, 7))
		r := newRig(t)
		r.write("small/file", "small")
		for i := range 2400 {
			r.write(fmt.Sprintf("large/%04d", i), strconv.Itoa(i%100))
		}
		first, want := r.takeAndCheck(), r.model()
		for round := range 6 {
			if round == 3 { // it becomes small, and in round 5 large again
				for i := range 1700 {
					r.remove(fmt.Sprintf("large/%04d", i))
				}
			}
			if round == 5 {
				for i := range 1700 {
					r.must(os.RemoveAll(r.path(fmt.Sprintf("large/%04d", i))))
					r.write(fmt.Sprintf("large/%04d", i), "again")
				}
			}
			r.editLarge(random)
			r.takeWithoutCache(r.takeAndCheck().Snapshot.Version)
		}
		damage, err := verify.Run(t.Context(), r.store, 0, nil)
		if err != nil || !damage.OK() {
			t.Errorf("%+v, %v", damage, err)
		}
		r.restore(first.Snapshot.Version, restore.Scope{})
		r.holds(first.Snapshot.Version, want)
		if diff := cmp.Diff(want, r.model()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestLargeDirectoryStoresChangedPage(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "6,000 files")
	r := newRig(t)
	for i := range 6000 {
		r.write(fmt.Sprintf("large/%04d", i), strconv.Itoa(i))
	}
	r.take()
	r.write("large/1000", "changed")
	taken := r.auto()
	if added := taken.Snapshot.Added; added > 30<<10 {
		t.Errorf("%d bytes were added", added)
	}
	if taken.Changes != 1 && taken.Changes != 2 { // 2 with the folder's time
		t.Errorf("%d changes", taken.Changes)
	}
	usage, err := retention.Measure(t.Context(), r.store, nil)
	if err != nil || usage.Snapshots[1].Own > 30<<10 {
		t.Errorf("%+v, %v", usage, err)
	}
	// Pages that only older snapshots have are removed with them.
	r.drop(1)
	h := r.hold()
	_, err = retention.Compact(t.Context(), h)
	r.must(errors.Join(err, h.Release()))
	r.holds(2, r.model())
	records, reader := r.store.Loader(r.snapshot(2))
	defer func() { r.must(reader.Close()) }()
	root, _ := r.snapshot(2).Tree.Ref()
	if e, err := band.LookupPath(records, root, "large/1000"); err != nil || e.Size != 7 {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestDamagedPage checks that only its folder can't be restored.
func TestDamagedPage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("small/file", "small")
	for i := range 2000 {
		r.write(fmt.Sprintf("large/%04d", i), "")
	}
	v := r.take()
	records, reader := r.store.Loader(r.snapshot(v))
	root, _ := r.snapshot(v).Tree.Ref()
	e, err := band.LookupPath(records, root, "large")
	r.must(err)
	header, err := records.Header(e.Content)
	r.must(errors.Join(err, reader.Close()))
	if len(header.Pages) < 2 {
		t.Fatalf("%d pages", len(header.Pages))
	}
	at := header.Pages[0].Ref
	r.rewrite(filepath.Join(r.store.BandsDir(), strconv.FormatUint(uint64(at.Band), 10)), func(data []byte) []byte {
		data[at.Offset+60] ^= 1
		return data
	})
	damage, err := verify.Run(t.Context(), r.store, v, nil)
	if err != nil || !cmp.Equal(lost(damage), []string{"large"}) {
		t.Errorf("%+v, %v", damage, err)
	}
	r.remove("small")
	r.remove("large/1999")
	r.must(os.Remove(r.stored("stat-" + r.opts.Lineage))) // the whole tree is read again
	planned := r.plan(v, restore.Scope{})
	if !cmp.Equal(planned.Damaged, []string{"large"}) || planned.Count(restore.StepCreate) != 2 {
		t.Errorf("%+v", planned)
	}
}
