package bands_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
)

func TestTakeLimits(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	store, err := bands.Create(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	held, err := store.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Release() }()
	for i := range 10 {
		if err := os.WriteFile(filepath.Join(root, strconv.Itoa(i)), make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := capture.TakeOptions{Options: bands.Options{Root: root, Lineage: bands.PlainLineage, Now: time.Now, Floor: 1}, Cause: bands.Auto}
	for _, limits := range [][2]int64{{9, 0}, {0, 9999}} {
		o.MostFiles, o.MostBytes = limits[0], limits[1]
		if _, err := capture.Take(t.Context(), held, o); !errors.Is(err, bands.ErrTooMuch) {
			t.Errorf("limits %v: %v", limits, err)
		}
	}
	o.MostFiles, o.MostBytes = 10, 10_000
	taken, err := capture.Take(t.Context(), held, o)
	if err != nil || taken.Snapshot.Version != 1 || taken.Snapshot.Totals.Files != 10 {
		t.Errorf("%+v, %v", taken.Snapshot, err)
	}
}
