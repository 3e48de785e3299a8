//go:build unix

package bands_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/retention"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for i := range 20 {
		s.noise(t, fmt.Sprintf("a/b%d/file", i), 5000)
	}
	s.take(t, bands.Auto, 5*minute)
	s.noise(t, "a/b1/mine", 100_000)
	s.noise(t, "large", 5<<20) // stored in parts
	s.take(t, bands.Auto, 4*minute)
	s.take(t, bands.Named, 3*minute)
	fine(t, os.Remove(filepath.Join(s.root, "a/b1/mine")))
	fine(t, os.Remove(filepath.Join(s.root, "large")))
	s.take(t, bands.Auto, 2*minute)
	s.noise(t, "a/b1/other", 50_000)
	s.take(t, bands.Auto, minute)

	var passed []int64
	usage, err := retention.Measure(t.Context(), s.Store, func(done, total int64) { passed = append(passed, done, total) })
	fine(t, err)
	if !slices.Equal(passed, []int64{1, 5, 2, 5, 3, 5, 4, 5, 5, 5}) {
		t.Errorf("progress %v", passed)
	}
	low := func(v bands.Version) int64 { return map[bands.Version]int64{5: 50_000}[v] }
	for _, u := range usage.Snapshots {
		// The second and the third snapshot share the large file.
		if u.Own < low(u.Version) || u.Own > low(u.Version)+4000 {
			t.Errorf("%+v", u)
		}
	}
	if len(usage.Snapshots) != 5 || usage.Snapshots[0].Total != 100_000 || usage.Snapshots[1].Total != 200_000+5<<20 {
		t.Errorf("%+v", usage.Snapshots)
	}
	all := int64(100_000 + 100_000 + 5<<20 + 50_000)
	if usage.Live < all || usage.Live > all+20_000 || usage.Size < usage.Live {
		t.Errorf("live %d, size %d of %d", usage.Live, usage.Size, all)
	}
	s.held(t, func(h *bands.Held) { fine(t, retention.Delete(h, 3)) })
	usage, err = retention.Measure(t.Context(), s.Store, nil)
	if err != nil || usage.Snapshots[1].Version != 2 || usage.Snapshots[1].Own < 100_000+5<<20 {
		t.Errorf("now only the second has it: %+v, %v", usage.Snapshots, err)
	}
}

func TestSizeCountsDiskBlocks(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for i := range 9 {
		s.noise(t, fmt.Sprint("file", i), 70_000*i)
		s.take(t, bands.Auto, time.Duration(9-i)*minute)
	}
	var want int64
	seen := map[uint64]bool{}
	fine(t, filepath.WalkDir(s.Dir(), func(path string, d fs.DirEntry, err error) error {
		fine(t, err)
		info, err := d.Info()
		fine(t, err)
		st, is := info.Sys().(*syscall.Stat_t)
		if is && path != s.Dir() && !seen[st.Ino] {
			seen[st.Ino] = true
			want += st.Blocks * 512
		}
		return nil
	}))
	if got := s.size(t); got != want {
		t.Errorf("%d, not %d", got, want)
	}
}
