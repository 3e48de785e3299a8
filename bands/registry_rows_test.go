package bands_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/internal/catalog"
)

// filled returns a named store with n snapshots; the second has a pair.
func filled(t *testing.T, m machine, name string, n int) *shelf {
	t.Helper()
	e := m.init(t, name)
	store, err := bands.Open(e.Dir)
	fine(t, err)
	s := &shelf{Store: store, root: e.Root, now: now()}
	for i := range n {
		s.noise(t, "file", 1000)
		v := s.take(t, bands.Auto, time.Duration(n-i)*minute)
		if v == 2 {
			s.held(t, func(h *bands.Held) { fine(t, h.AddPair(v, aPair())) })
		}
	}
	return s
}

func aPair() bands.Pair {
	return bands.Pair{Checkpoint: "aabbccddeeff", Commit: "c0ffee", Created: now().UTC().Truncate(time.Second)}
}

// rows returns the catalog's rows of the store a.
func rows(t *testing.T, m machine) []catalog.Checkpoint {
	t.Helper()
	c, err := catalog.Open(t.Context(), m.CatalogPath())
	fine(t, err)
	store, err := c.StoreByName(t.Context(), "a")
	fine(t, err)
	list, err := c.Checkpoints(t.Context(), store.ID, 0)
	fine(t, errors.Join(err, c.Close()))
	return list
}

// expectedRows returns the expected result of Checkpoints, made from the store's snapshots.
func expectedRows(t *testing.T, s *shelf) []bands.Snapshot {
	t.Helper()
	snaps, err := s.Snapshots()
	fine(t, err)
	var list []bands.Snapshot
	for i := range snaps {
		snap := snaps[len(snaps)-1-i]
		snap.Bands, snap.Added = nil, 0
		snap.Created = snap.Created.UTC().Truncate(time.Second)
		snap.Totals = band.Totals{Files: snap.Totals.Files, Bytes: snap.Totals.Bytes}
		list = append(list, snap)
	}
	return list
}

func agrees(t *testing.T, m machine, s *shelf) {
	t.Helper()
	for range 2 { // perhaps from the store at first, then from the rows
		list, err := m.Rows().Checkpoints(t.Context(), s.Store, 0)
		for i := range list {
			list[i].Bands, list[i].Added = nil, 0
			list[i].Created = list[i].Created.UTC().Truncate(time.Second)
			list[i].Totals = band.Totals{Files: list[i].Totals.Files, Bytes: list[i].Totals.Bytes}
		}
		if diff := cmp.Diff(expectedRows(t, s), list, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
}

func TestRowsAgreeWithStore(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := filled(t, m, "a", 5)
	for _, v := range s.versions(t)[1:4] {
		snap, err := s.Snapshot(v)
		fine(t, err)
		fine(t, m.Rows().Record(t.Context(), s.Store, snap))
	}
	if got := rows(t, m); len(got) != 3 || len(got[2].Pairs) != 1 {
		t.Errorf("the rows are %+v", got)
	}
	agrees(t, m, s)
	if got := rows(t, m); len(got) != 5 {
		t.Errorf("rows that were missing: %d of 5 are there", len(got))
	}
	s.held(t, func(h *bands.Held) { fine(t, errors.Join(h.AddPair(4, aPair()), retention.Delete(h, 1, 3))) })
	agrees(t, m, s)
	if got := rows(t, m); len(got) != 3 {
		t.Errorf("rows of what is gone: %d for 3", len(got))
	}
	fine(t, os.Remove(m.CatalogPath()))
	agrees(t, m, s)
	putFile(t, m.CatalogPath(), strings.Repeat("garbage", 1000))
	agrees(t, m, s)
	limited, err := m.Rows().Checkpoints(t.Context(), s.Store, 2)
	if err != nil || len(limited) != 2 || limited[0].Version != 5 {
		t.Errorf("the newest two: %v, %v", limited, err)
	}
}

func TestRecordAndForgetRows(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := filled(t, m, "a", 3)
	snap, err := s.Snapshot(3)
	fine(t, err)
	fine(t, os.Remove(m.CatalogPath())) // the store has no row
	fine(t, m.Rows().Record(t.Context(), s.Store, snap))
	if got := rows(t, m); len(got) != 1 {
		t.Errorf("the rows are %+v", got)
	}
	fine(t, m.Rows().Forget(t.Context(), s.Store, 3))
	if got := rows(t, m); len(got) != 0 {
		t.Errorf("the rows are %+v", got)
	}
}

func TestRowsReportDamagedSnapshot(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := filled(t, m, "a", 3)
	agrees(t, m, s)
	putFile(t, filepath.Join(s.SnapshotDir(2), "snapshot.json"), "{}")
	fine(t, os.Chtimes(s.SnapshotDir(2), now(), now()))
	list, err := m.Rows().Checkpoints(t.Context(), s.Store, 0)
	if !errors.Is(err, bands.ErrDamaged) || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestListCountsSnapshots(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	filled(t, m, "b", 3)
	filled(t, m, "a", 1)
	list, err := m.List(t.Context())
	fine(t, err)
	var got []string
	for _, e := range list {
		got = append(got, fmt.Sprint(e.Name, e.Checkpoints))
	}
	if diff := cmp.Diff([]string{"a1", "b3"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestConcurrentRecord(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := filled(t, m, "a", 6)
	fine(t, os.Remove(m.CatalogPath()))
	var all sync.WaitGroup
	for _, v := range s.versions(t) {
		snap, err := s.Snapshot(v)
		fine(t, err)
		all.Go(func() {
			if err := m.Rows().Record(t.Context(), s.Store, snap); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := rows(t, m); len(got) != 6 {
		t.Errorf("%d rows of 6", len(got))
	}
}
