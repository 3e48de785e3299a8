//go:build linux || darwin

package bands_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/verify"
)

// A band that is missing in a snapshot's folder is read from the store's folder. It stays there
// when other snapshots are deleted.
func TestBandMissingInSnapshot(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string) error{
		"missing":   os.Remove,
		"cut short": func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rigWithFiles(t)
			want := r.model()
			v := r.take()
			r.write("other/six", "changed")
			last := r.take()
			r.must(lose(filepath.Join(r.store.SnapshotDir(v), "0")))
			r.must(lose(filepath.Join(r.store.SnapshotDir(last), "0")))
			h := r.hold()
			r.must(errors.Join(retention.Delete(h, last), h.Release()))
			damage, err := verify.Run(t.Context(), r.store, 0, nil)
			if err != nil || !damage.OK() {
				t.Errorf("%+v, %v", damage, err)
			}
			r.holds(v, want)
		})
	}
}

// A band that is missing in the store's folder is restored from the last snapshot's folder, and
// nothing is appended to one that became shorter.
func TestBandMissingInStore(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string, data []byte) error{
		"missing": func(path string, _ []byte) error { return os.Remove(path) },
		"cut short": func(path string, data []byte) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, data[:100], 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rigWithFiles(t)
			was := r.model()
			v := r.take()
			path := filepath.Join(r.store.BandsDir(), "0")
			data, err := os.ReadFile(path)
			r.must(errors.Join(err, lose(path, data)))
			r.write("one", "changed")
			r.takeAndCheck()
			r.holds(v, was)
			f, err := band.StatFile(r.store.BandsDir(), 0)
			if err != nil || f.Length < int64(len(data)) {
				t.Errorf("the band has %d bytes of %d, %v", f.Length, len(data), err)
			}
		})
	}
}
