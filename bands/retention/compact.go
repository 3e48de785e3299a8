package retention

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// deadness selects the bands to compact.
type deadness int

const (
	// mostlyDead selects bands with more dead room than live records.
	mostlyDead deadness = iota
	// allDead selects all bands with dead room.
	allDead
)

// Compact frees the room of all records that no snapshot needs, and returns the number of bytes
// freed in the bands. Records never move, so it punches holes if the file system can; otherwise it
// does nothing.
func Compact(ctx context.Context, h *bands.Held) (int64, error) {
	return compact(ctx, h, allDead, func(int, int) {})
}

func compact(ctx context.Context, h *bands.Held, which deadness, read func(done, total int)) (int64, error) {
	live, err := findLive(ctx, h, read)
	if err != nil {
		return 0, err
	}
	snaps, err := bandDirs(h)
	if err != nil {
		return 0, err
	}
	c := compaction{Held: h, live: live, dirs: snaps, which: which}
	err = bands.EachFile(h.BandsDir(), func(name string, st dirfd.Stat) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, raw, ok := band.ParseName(name)
		if !ok || raw || live.Pinned[n] {
			return nil
		}
		return c.band(n, st)
	})
	if errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return c.freed, err
}

// liveBands are the stretches of bands that snapshots need, by band.
type liveBands struct {
	Stretches map[uint32][]stretch // by offset
	Pieces    map[uint32][]stretch // of raw bands
	Pinned    map[uint32]bool      // bands with unknown needs
}

// stretch is a part of a band.
type stretch struct{ From, To int64 }

// findLive finds the stretches that snapshots need. Bands of snapshots that can't be read are
// pinned. It reports the number of snapshots read.
func findLive(ctx context.Context, h *bands.Held, read func(done, total int)) (liveBands, error) {
	snaps, _ := h.Snapshots()
	readable := map[bands.Version]bool{}
	l := newLedger(h.Store, countLive)
	defer l.close()
	for i, snap := range snaps {
		read(i, len(snaps))
		readable[snap.Version] = true
		if _, err := l.add(ctx, snap); err != nil {
			return liveBands{}, err
		}
	}
	versions, err := h.Versions()
	if err != nil {
		return liveBands{}, err
	}
	for _, v := range versions {
		if readable[v] {
			continue
		}
		files, err := band.Files(h.SnapshotDir(v))
		if err != nil {
			return liveBands{}, fmt.Errorf("snapshot %s: %w", v, err)
		}
		for _, f := range files {
			l.pinned[f.Number] = true
		}
	}
	b := liveBands{Stretches: map[uint32][]stretch{}, Pieces: l.pieces, Pinned: l.pinned}
	for at, r := range l.records {
		if !r.raw {
			b.Stretches[at.band] = append(b.Stretches[at.band], stretch{int64(at.offset), int64(at.offset) + r.stored})
		}
	}
	for _, lists := range []map[uint32][]stretch{b.Stretches, b.Pieces} {
		for _, list := range lists {
			slices.SortFunc(list, func(x, y stretch) int { return cmp.Compare(x.From, y.From) })
		}
	}
	return b, nil
}

// bandDirs returns the folders that may have copies of bands beside bands/.
func bandDirs(h *bands.Held) ([]string, error) {
	versions, err := h.Versions()
	if err != nil {
		return nil, err
	}
	dirs := make([]string, len(versions))
	for i, v := range versions {
		dirs[i] = h.SnapshotDir(v)
	}
	return dirs, nil
}

// compaction punches holes in bands.
type compaction struct {
	*bands.Held
	live  liveBands
	dirs  []string
	which deadness
	freed int64
}

// headRoom is the length of a band's header, which is kept.
const headRoom = 16

// pageRoom is the minimum length of a hole that frees room.
const pageRoom = 4096

// band punches holes in the dead parts of one band and of all its copies.
func (c *compaction) band(n uint32, st dirfd.Stat) error {
	dead, live := deadParts(c.live.Stretches[n], st.Size)
	taken := st.Blocks * 512
	if len(dead) == 0 || taken <= live || c.which == mostlyDead && taken-live <= live {
		return nil
	}
	freed, err := punch(filepath.Join(c.BandsDir(), band.FileName(n)), dead)
	c.freed += freed
	if err != nil {
		return err
	}
	// A snapshot's folder may have a reflink or a copy of the band, which gets the same holes. Hard
	// links have them already.
	links := 1
	for _, dir := range c.dirs {
		if st.Nlink > 1 && uint64(links) == st.Nlink && c.Linking() == disk.Hardlink {
			return nil // all links were found
		}
		path := filepath.Join(dir, band.FileName(n))
		own, err := stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return err
		case own.Dev == st.Dev && own.Ino == st.Ino:
			links++
			continue
		}
		if _, err := punch(path, dead); err != nil {
			return err
		}
	}
	return nil
}

// deadParts returns the parts of a band of that size between its live stretches that are large
// enough, and the total length of the live ones.
func deadParts(live []stretch, size int64) (dead []stretch, sum int64) {
	at := int64(headRoom)
	for _, s := range append(slices.Clone(live), stretch{size, size}) {
		if s.From-at >= pageRoom {
			dead = append(dead, stretch{at, s.From})
		}
		sum += s.To - s.From
		at = max(at, s.To)
	}
	return dead, sum + headRoom
}

// punch punches holes in the file and returns the number of bytes freed on the disk.
func punch(path string, dead []stretch) (freed int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	before, err := stat(path)
	if err != nil {
		return 0, err
	}
	for _, d := range dead {
		err := disk.PunchHole(f, d.From, d.To-d.From)
		if errors.Is(err, syscall.ENOSPC) {
			// On a full Btrfs only whole pages can become holes: zeros in a part of a page would be
			// written to a new place.
			from, to := (d.From+pageRoom-1)/pageRoom*pageRoom, d.To/pageRoom*pageRoom
			err = nil
			if from < to {
				err = disk.PunchHole(f, from, to-from)
			}
		}
		if err != nil {
			return 0, err
		}
	}
	after, err := stat(path)
	return max(before.Blocks-after.Blocks, 0) * 512, err
}

// stat returns the stat data of a file without following links.
func stat(path string) (st dirfd.Stat, err error) {
	dir, err := dirfd.OpenRoot(filepath.Dir(path))
	if err != nil {
		return st, err
	}
	err = errors.Join(dir.Stat(filepath.Base(path), &st), dir.Close())
	return st, err
}
