package retention

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Erase removes the forgotten content from all snapshots, which keep their versions, and erases the
// bytes that no snapshot needs any more. If it is interrupted, each snapshot is unchanged or
// complete, and the next call continues.
func Erase(ctx context.Context, h *bands.Held, what EraseRequest) error {
	if err := h.Sweep(); err != nil {
		return err
	}
	snaps, _ := h.Snapshots() // one that can't be read is kept as it is
	f := newForgetter(h.Store, what)
	f.keep = capture.NewKeeper(h.Store, h.Reserved().Band, -1)
	f.keep.Lengths = map[uint32]int64{}
	for _, snap := range snaps {
		for n, length := range snap.BandLengths() {
			f.keep.Lengths[n] = max(f.keep.Lengths[n], length)
		}
	}
	err := rewrite(ctx, h, f, snaps)
	if err := errors.Join(err, f.keep.Close()); err != nil {
		return fmt.Errorf("forget in snapshots: %w", err)
	}
	if err := dropUnlisted(h); err != nil {
		return fmt.Errorf("forget in snapshots: %w", err)
	}
	if err := h.DropCaches(); err != nil {
		return fmt.Errorf("forget in snapshots: %w", err)
	}
	if err := eraseUnused(ctx, h); err != nil {
		return fmt.Errorf("erase contents that no snapshot needs: %w", err)
	}
	return nil
}

// rewrite replaces the trees of snapshots with forgotten content. All records are durable before
// the first snapshot refers to one.
func rewrite(ctx context.Context, h *bands.Held, f *forgetter, snaps []bands.Snapshot) error {
	trees := map[bands.Version]forgottenDir{}
	for i, snap := range snaps {
		f.reached(i, len(snaps))
		out, err := f.snapshot(ctx, snap)
		if err != nil {
			return err
		}
		if out.changed {
			trees[snap.Version] = out
		}
	}
	if len(trees) == 0 {
		return nil
	}
	if err := f.keep.Finish(); err != nil {
		return err
	}
	last := h.Reserved()
	if most := slices.Max(slices.Collect(maps.Keys(f.wrote))); last.Version != 0 && most >= last.Band {
		last.Band = most + 1
		if err := disk.WriteDurable(h.Path(bands.VersionFile), last.Encode(), 0o600); err != nil {
			return err
		}
	}
	for _, snap := range snaps {
		if out, ok := trees[snap.Version]; ok {
			if err := redescribe(h, snap, out.StoredDirectory, f.wrote); err != nil {
				return fmt.Errorf("snapshot %s: %w", snap.Version, err)
			}
		}
	}
	return nil
}

// redescribe replaces the tree of a snapshot.
func redescribe(h *bands.Held, snap bands.Snapshot, rec band.StoredDirectory, wrote map[uint32]bool) error {
	had := snap.BandLengths()
	snap.Tree = bands.TreeRef{Hash: rec.Ref.Hash.String(), Band: rec.Ref.Band, Offset: rec.Ref.Offset}
	snap.Totals, snap.Bands = rec.Totals, nil
	for _, n := range band.UnionBands(rec.Bands, []uint32{rec.Ref.Band}) {
		length, linked := had[n]
		if wrote[n] || !linked {
			file, err := band.StatFile(h.BandsDir(), n)
			if err != nil {
				return err
			}
			if err := linkBand(h, file, snap.Version); err != nil {
				return err
			}
			length = file.Length
		}
		snap.Bands = append(snap.Bands, bands.BandLength{Number: n, Length: length})
	}
	dir := h.SnapshotDir(snap.Version)
	if err := disk.SyncDir(dir); err != nil {
		return err
	}
	data, err := bands.Seal(bands.Described{Format: bands.SnapshotFormat, Snapshot: snap})
	if err != nil {
		return err
	}
	return disk.WriteDurable(filepath.Join(dir, bands.SnapshotFile), data, 0o600)
}

// linkBand puts the present band into a snapshot's folder.
func linkBand(h *bands.Held, file band.FileInfo, v bands.Version) error {
	from, to := filepath.Join(h.BandsDir(), file.Name()), filepath.Join(h.SnapshotDir(v), file.Name())
	one, err := os.Lstat(from)
	if err != nil {
		return err
	}
	other, err := os.Lstat(to)
	if err == nil && os.SameFile(one, other) {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh := h.Path(bands.MakingPrefix + file.Name())
	if err := disk.Remove(fresh); err != nil {
		return err
	}
	if h.Linking() == disk.Hardlink {
		if err := h.Hardlink(from, fresh); err != nil {
			return err
		}
	} else if err := disk.LinkOrCopy(h.Linking(), from, fresh); err != nil {
		return err
	}
	if err := disk.SyncFiles([]string{fresh}, nil); err != nil {
		return err
	}
	return disk.Rename(fresh, to)
}

// dropUnlisted removes the bands in snapshots' folders that they don't list, and those that no
// snapshot refers to.
func dropUnlisted(h *bands.Held) error {
	snaps, _ := h.Snapshots()
	for _, snap := range snaps {
		lengths := snap.BandLengths()
		files, err := band.Files(h.SnapshotDir(snap.Version))
		if err != nil {
			return err
		}
		for _, file := range files {
			if _, listed := lengths[file.Number]; listed {
				continue
			}
			if err := disk.Remove(filepath.Join(h.SnapshotDir(snap.Version), file.Name())); err != nil {
				return err
			}
		}
	}
	return Collect(h)
}

// eraseUnused overwrites with zeros the parts of bands that no snapshot needs, also in the
// snapshots' clones and copies. Bands of snapshots that can't be read are kept.
func eraseUnused(ctx context.Context, h *bands.Held) error {
	live, err := findLive(ctx, h, func(int, int) {})
	if err != nil {
		return err
	}
	dirs, err := bandDirs(h)
	if err != nil {
		return err
	}
	done := map[[2]uint64]bool{}
	for _, dir := range append([]string{h.BandsDir()}, dirs...) {
		err := bands.EachFile(dir, func(name string, st dirfd.Stat) error {
			n, raw, ok := band.ParseName(name)
			id := [2]uint64{st.Dev, st.Ino}
			if !ok || live.Pinned[n] || done[id] || ctx.Err() != nil {
				return ctx.Err()
			}
			done[id] = true
			needed, from := live.Stretches[n], int64(headRoom)
			if raw {
				needed, from = live.Pieces[n], 0
			}
			return zero(filepath.Join(dir, name), gapsBetween(needed, from, st.Size))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// gapsBetween returns the parts of a file, from an offset on, that are outside of the sorted
// stretches.
func gapsBetween(needed []stretch, from, size int64) (rest []stretch) {
	for _, s := range append(slices.Clone(needed), stretch{From: size, To: size}) {
		if s.From > from {
			rest = append(rest, stretch{From: from, To: min(s.From, size)})
		}
		from = max(from, s.To)
	}
	return rest
}

// zero fills parts of a file with zeros: with holes if the file system has them. Parts that are
// zero already aren't written.
func zero(path string, parts []stretch) (err error) {
	if len(parts) == 0 {
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	changed := false
	for _, p := range parts {
		blank, err := isZero(file, p)
		if err != nil {
			return err
		}
		if blank {
			continue
		}
		changed = true
		err = disk.PunchHole(file, p.From, p.To-p.From)
		if errors.Is(err, errors.ErrUnsupported) {
			err = overwrite(file, p)
		}
		if err != nil {
			return err
		}
	}
	if !changed {
		return nil
	}
	if err := disk.Step("sync", path); err != nil {
		return err
	}
	return file.Sync()
}

func isZero(file *os.File, p stretch) (bool, error) {
	buf := make([]byte, min(overwriteChunk, p.To-p.From))
	for at := p.From; at < p.To; {
		part := buf[:min(int64(len(buf)), p.To-at)]
		if _, err := file.ReadAt(part, at); err != nil {
			return false, err
		}
		if slices.ContainsFunc(part, func(c byte) bool { return c != 0 }) {
			return false, nil
		}
		at += int64(len(part))
	}
	return true, nil
}

func overwrite(file *os.File, p stretch) error {
	if err := disk.Step("erase", file.Name()); err != nil {
		return err
	}
	zeros := make([]byte, min(overwriteChunk, p.To-p.From))
	for at := p.From; at < p.To; {
		n, err := file.WriteAt(zeros[:min(int64(len(zeros)), p.To-at)], at)
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}
