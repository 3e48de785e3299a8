package bands_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/verify"
)

// shelf is a store with a tree to take snapshots of.
type shelf struct {
	*bands.Store

	root string
	now  time.Time
	seed uint64
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	fine(t, err)
	store, err := bands.Create(filepath.Join(dir, "store"))
	fine(t, err)
	root := filepath.Join(dir, "tree")
	fine(t, os.Mkdir(root, 0o755))
	return &shelf{Store: store, root: root, now: now()}
}

// held runs work with the store's lock.
func (s *shelf) held(t *testing.T, work func(h *bands.Held)) {
	t.Helper()
	h, err := s.Hold(t.Context())
	fine(t, err)
	work(h)
	fine(t, h.Release())
}

// take takes a snapshot that is dated age ago.
func (s *shelf) take(t *testing.T, cause bands.Cause, age time.Duration) bands.Version {
	t.Helper()
	var taken capture.Taken
	s.held(t, func(h *bands.Held) {
		var err error
		taken, err = capture.Take(t.Context(), h, capture.TakeOptions{
			Options: bands.Options{Root: s.root, Now: func() time.Time { return s.now.Add(-age) }, Cap: 1 << 40, Floor: 1},
			Cause:   cause, Message: string(cause),
		})
		fine(t, err)
	})
	return taken.Snapshot.Version
}

// noise writes a file of random bytes, which don't compress and are in no other file.
func (s *shelf) noise(t *testing.T, name string, size int) {
	t.Helper()
	s.seed++
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(s.seed), byte(s.seed >> 8)}).Read(data)
	putFile(t, filepath.Join(s.root, name), string(data))
}

func (s *shelf) prune(t *testing.T, p retention.Policy) retention.Pruned {
	t.Helper()
	var done retention.Pruned
	if p.Now.IsZero() {
		p.Now = s.now
	}
	s.held(t, func(h *bands.Held) {
		var err error
		done, err = retention.Prune(t.Context(), h, p)
		fine(t, err)
	})
	return done
}

// checkData verifies all data of the snapshots.
func (s *shelf) checkData(t *testing.T) {
	t.Helper()
	found, err := verify.Run(context.Background(), s.Store, 0, nil)
	fine(t, err)
	if !found.OK() {
		t.Errorf("damage: %+v", found)
	}
}

func (s *shelf) versions(t *testing.T) []bands.Version {
	t.Helper()
	list, err := s.Versions()
	fine(t, err)
	return list
}

func (s *shelf) size(t *testing.T) int64 {
	t.Helper()
	size, err := s.Size()
	fine(t, err)
	return size
}

// now returns a Thursday afternoon, east of Greenwich so that days begin at 22:00 UTC.
func now() time.Time {
	return time.Date(2026, 3, 12, 15, 30, 0, 0, time.FixedZone("", 2*60*60))
}

const (
	minute = time.Minute
	hour   = time.Hour
	days   = 24 * time.Hour
)
