package bands_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// BenchmarkTake measures snapshots of the tree in the directory BANDS_TREE and, for comparison,
// a walk of it. For "one", a file is rewritten before each snapshot.
func BenchmarkTake(b *testing.B) {
	root := os.Getenv("BANDS_TREE")
	if root == "" {
		b.Skip("BANDS_TREE names no folder")
	}
	options := bands.Options{Root: root, Now: time.Now}
	b.Run("walk", func(b *testing.B) {
		for b.Loop() {
			if _, err := treetest.CountTree(root, 2); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			store := newStore(b, filepath.Join(b.TempDir(), "store"))
			b.StartTimer()
			snap(b, store, capture.TakeOptions{Options: options})
		}
	})
	store := newStore(b, filepath.Join(b.TempDir(), "store"))
	snap(b, store, capture.TakeOptions{Options: options})
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			snap(b, store, capture.TakeOptions{Options: options, SkipUnchanged: true})
		}
	})
	changed := filepath.Join(root, "src", "part00", "file000.ts")
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			if err := os.WriteFile(changed, time.Now().AppendFormat(nil, time.RFC3339Nano), 0o644); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if got := snap(b, store, capture.TakeOptions{Options: options, SkipUnchanged: true}); got.Changes == 0 {
				b.Fatal("nothing changed")
			}
		}
	})
}

func newStore(tb testing.TB, dir string) *bands.Store {
	tb.Helper()
	store, err := bands.Create(dir)
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

func snap(tb testing.TB, s *bands.Store, o capture.TakeOptions) capture.Taken {
	tb.Helper()
	h, err := s.Hold(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	taken, err := capture.Take(tb.Context(), h, o)
	if err != nil {
		tb.Fatal(err)
	}
	if err := h.Release(); err != nil {
		tb.Fatal(err)
	}
	return taken
}
