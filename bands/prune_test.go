package bands_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestPruneFreesSpace(t *testing.T) {
	t.Parallel()
	for name, linking := range map[string]string{"linked": "", "copied": `"copy"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			if linking != "" {
				s.relink(t, linking)
			}
			for i := range 40 {
				s.noise(t, fmt.Sprintf("stays/%d", i), 2000)
			}
			s.take(t, bands.Named, 9*days)
			for i := range 6 { // one band holds all of them
				s.noise(t, "changes", 1<<20)
				s.noise(t, fmt.Sprintf("stays/%d", i), 3000)
				s.take(t, bands.Auto, time.Duration(6-i)*minute)
			}
			before := s.size(t)
			dry := s.prune(t, retention.Policy{Keep: 1, DryRun: true})
			if got := s.size(t); got != before || len(s.versions(t)) != 7 {
				t.Errorf("a dry run changed the store: %d bytes of %d, %v", got, before, s.versions(t))
			}
			done := s.prune(t, retention.Policy{Keep: 1})
			want := []bands.Version{2, 3, 4, 5, 6}
			if diff := cmp.Diff([][]bands.Version{want, want}, [][]bands.Version{dry.Versions, done.Versions}); diff != "" {
				t.Error(diff)
			}
			after := s.size(t)
			if done.Before != before || done.Freed != before-after || done.Freed < 5<<20 || dry.Freed < 5<<20 {
				t.Errorf("before %d, after %d: %+v, dry %+v", before, after, done, dry)
			}
			if diff := cmp.Diff([]bands.Version{1, 7}, s.versions(t)); diff != "" {
				t.Error(diff)
			}
			s.checkData(t)
			if v := s.take(t, bands.Named, 0); v != 8 {
				t.Errorf("the next is %s", v)
			}
		})
	}
}

// relink changes how the store links its bands, as on another file system.
func (s *shelf) relink(t *testing.T, linking string) {
	t.Helper()
	putFile(t, filepath.Join(s.Dir(), "store.json"), `{"format":1,"linking":`+linking+`}`)
	store, err := bands.Open(s.Dir())
	fine(t, err)
	s.Store = store
}

func TestPrunedContentCanBeStoredAgain(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.noise(t, "big", 1<<20)
	big := fileText(t, filepath.Join(s.root, "big"))
	s.take(t, bands.Auto, 3*minute)
	s.noise(t, "big", 1<<19)
	s.take(t, bands.Auto, 2*minute)
	s.prune(t, retention.Policy{Keep: 1})
	putFile(t, filepath.Join(s.root, "again"), big) // the place of its record is a hole now
	v := s.take(t, bands.Auto, minute)
	if v != 3 {
		t.Errorf("the version is %s", v)
	}
	s.checkData(t)
}

func TestVersionsAreNeverReused(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for i := range 5 {
		s.noise(t, "file", 100)
		s.take(t, bands.Auto, time.Duration(5-i)*minute)
	}
	s.held(t, func(h *bands.Held) { fine(t, retention.Delete(h, 3, 4, 5)) })
	s.noise(t, "file", 100)
	if v := s.take(t, bands.Auto, 0); v != 6 {
		t.Errorf("after a delete: %s", v)
	}
	s.held(t, func(h *bands.Held) { fine(t, retention.Delete(h, s.versions(t)...)) })
	s.noise(t, "file", 100)
	if v := s.take(t, bands.Auto, 0); v != 7 {
		t.Errorf("after a delete of all: %s", v)
	}
}

// TestUnreservedVersionsAreNeverReused deletes a snapshot with a version above the reserved one.
// A power loss can leave one.
func TestUnreservedVersionsAreNeverReused(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	reserved := filepath.Join(s.Dir(), "version")
	var before []byte
	for i := range 3 {
		if i == 2 {
			data, err := os.ReadFile(reserved)
			fine(t, err)
			before = data
		}
		s.noise(t, "file", 100)
		s.take(t, bands.Auto, time.Duration(5-i)*minute)
	}
	fine(t, os.WriteFile(reserved, before, 0o600))
	s.held(t, func(h *bands.Held) { fine(t, retention.Delete(h, 3)) })
	s.noise(t, "file", 100)
	if v := s.take(t, bands.Auto, 0); v != 4 {
		t.Errorf("after v3 was deleted: %s", v)
	}
	s.checkData(t)
}

func TestPruneOrderAtCap(t *testing.T) {
	t.Parallel()
	const mega = 1 << 20
	for name, c := range map[string]struct {
		cap  int64
		want []bands.Version // those that are kept
	}{
		"room for all":       {100 * mega, []bands.Version{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
		"automatic ones go":  {10 * mega, []bands.Version{1, 2, 3, 4, 5, 10, 11, 12}},
		"then paired ones":   {5 * mega, []bands.Version{1, 4, 5, 12}},
		"but not named ones": {1 * mega, []bands.Version{1, 12}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			for i := range 12 {
				s.noise(t, "file", mega)
				cause := bands.Auto
				switch i {
				case 0:
					cause = bands.Named
				case 1, 2:
					cause = bands.Commit
				}
				v := s.take(t, cause, time.Duration(12-i)*minute)
				if i == 3 || i == 4 {
					s.held(t, func(h *bands.Held) {
						fine(t, h.AddPair(v, bands.Pair{Checkpoint: fmt.Sprintf("%012d", i), Created: s.now}))
					})
				}
			}
			done := s.prune(t, retention.Policy{Cap: c.cap})
			if diff := cmp.Diff(c.want, s.versions(t)); diff != "" {
				t.Error(diff)
			}
			if size := s.size(t); size > c.cap && c.cap > 2*mega {
				t.Errorf("it takes %d of %d: %+v", size, c.cap, done)
			}
			s.checkData(t)
			if again := s.prune(t, retention.Policy{Cap: c.cap}); len(again.Versions) > 0 {
				t.Errorf("a second prune takes %v", again.Versions)
			}
		})
	}
}

func TestPruneKeepsManySnapshotsBelowCap(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "120 snapshots")
	const size = 2 << 20
	s := newShelf(t)
	for i := range 60 {
		s.noise(t, fmt.Sprintf("dir%d/file", i), 3000)
	}
	for i := range 120 {
		s.noise(t, fmt.Sprintf("dir%d/file", i%60), 9000)
		s.take(t, bands.Auto, time.Duration(120-i)*time.Second)
		if i%20 == 19 {
			done := s.prune(t, retention.Policy{Cap: size})
			if got := s.size(t); got > size {
				t.Errorf("after %d: %d bytes, %+v", i, got, done)
			}
		}
	}
	s.checkData(t)
}

func TestPruneKeepsDamagedSnapshots(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.noise(t, "keep", 300_000)
	s.take(t, bands.Named, 5*minute)
	for i := range 3 {
		s.noise(t, "file", 1<<20)
		s.take(t, bands.Auto, time.Duration(4-i)*minute)
	}
	// The first can't be read: which records it needs is unknown.
	description := filepath.Join(s.SnapshotDir(1), "snapshot.json")
	whole := fileText(t, description)
	putFile(t, description, "{}")
	done := s.prune(t, retention.Policy{Keep: 1, Cap: 1 << 20})
	if diff := cmp.Diff([]bands.Version{2, 3}, done.Versions); diff != "" {
		t.Error(diff)
	}
	putFile(t, description, whole)
	s.checkData(t)

	// A directory of the last can't be read either.
	snap, err := s.Snapshot(4)
	fine(t, err)
	f, err := os.OpenFile(filepath.Join(s.BandsDir(), band.FileName(snap.Tree.Band)), os.O_WRONLY, 0)
	fine(t, err)
	_, err = f.WriteAt([]byte("garbage"), int64(snap.Tree.Offset)+60)
	fine(t, err)
	fine(t, f.Close())
	s.held(t, func(h *bands.Held) {
		freed, err := retention.Compact(t.Context(), h)
		if err != nil || freed != 0 {
			t.Errorf("freed %d, %v", freed, err)
		}
	})
	usage, err := retention.Measure(t.Context(), s.Store, nil)
	if err == nil || len(usage.Snapshots) != 2 {
		t.Errorf("usage: %+v, %v", usage, err)
	}
}

func TestMaybePrune(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	maybe := func(p retention.Policy) []bands.Version {
		t.Helper()
		p.Now = s.now
		var done retention.Pruned
		s.held(t, func(h *bands.Held) {
			var err error
			done, err = retention.MaybePrune(t.Context(), h, p)
			fine(t, err)
		})
		return done.Versions
	}
	if got := maybe(retention.Policy{Keep: 1}); got != nil {
		t.Errorf("of an empty store: %v", got)
	}
	fill := func(n int) {
		t.Helper()
		for i := range n {
			s.noise(t, "file", 200_000)
			s.take(t, bands.Auto, time.Duration(n-i)*time.Second)
		}
	}
	fill(3)
	if got := maybe(retention.Policy{Keep: 1}); !slices.Equal(got, []bands.Version{1, 2}) {
		t.Errorf("the first time: %v", got)
	}
	fill(3)
	if got := maybe(retention.Policy{Keep: 4}); got != nil {
		t.Errorf("as many as are kept: %v", got)
	}
	if got := maybe(retention.Policy{Keep: 3}); !slices.Equal(got, []bands.Version{3}) {
		t.Errorf("one too many: %v", got)
	}
	if got := maybe(retention.Policy{}); got != nil {
		t.Errorf("soon after: %v", got)
	}
	fill(2)
	if got := maybe(retention.Policy{Keep: 100, Cap: 700_000}); len(got) == 0 {
		t.Error("above the cap nothing went")
	}
	fill(2)
	s.now = s.now.Add(25 * hour)
	if got := maybe(retention.Policy{Keep: 1}); len(got) == 0 {
		t.Error("a day later nothing went")
	}
	putFile(t, filepath.Join(s.Dir(), "pruned"), "garbage")
	if got := maybe(retention.Policy{Keep: 1}); got != nil {
		t.Errorf("with a bad note: %v", got)
	}
	s.checkData(t)
}
