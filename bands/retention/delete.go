package retention

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Delete removes snapshots, and then the bands that no snapshot refers to any more. If one of the
// versions doesn't exist, it returns ErrNoSnapshot and deletes nothing. The version numbers are
// never used again.
func Delete(h *bands.Held, versions ...bands.Version) error {
	for _, v := range versions {
		if _, err := os.Lstat(h.SnapshotDir(v)); err != nil {
			return fmt.Errorf("delete snapshot %s: %w", v, bands.ErrNoSnapshot)
		}
	}
	if len(versions) > 0 {
		if err := h.Raise(slices.Max(versions)); err != nil {
			return err
		}
	}
	for _, v := range versions {
		if err := hide(h, v, versions); err != nil {
			return fmt.Errorf("delete snapshot %s: %w", v, err)
		}
	}
	// Otherwise a power failure could leave a listed snapshot without its files.
	if err := disk.SyncDir(h.Path(bands.SnapshotsFolder)); err != nil {
		return fmt.Errorf("delete snapshots: %w", err)
	}
	for _, v := range versions {
		if err := bands.RemoveAll(removedDir(h, v)); err != nil {
			return fmt.Errorf("delete snapshot %s: %w", v, err)
		}
	}
	if err := Collect(h); err != nil {
		return fmt.Errorf("remove unused bands: %w", err)
	}
	return nil
}

func removedDir(h *bands.Held, v bands.Version) string {
	return h.Path(bands.RemovedPrefix + v.String())
}

// hide renames a snapshot that is deleted together with others.
func hide(h *bands.Held, v bands.Version, others []bands.Version) error {
	snap, err := h.Snapshot(v)
	if err == nil && h.Lineage(snap.Lineage).Linked() == v {
		if err := relink(h, snap.Lineage, others); err != nil {
			return err
		}
	}
	gone := removedDir(h, v)
	if err := bands.RemoveAll(gone); err != nil {
		return err
	}
	return disk.Rename(h.SnapshotDir(v), gone)
}

// relink sets the lineage's link to the last snapshot that is kept.
func relink(h *bands.Held, lineage string, going []bands.Version) error {
	versions, err := h.Versions()
	if err != nil {
		return err
	}
	for _, v := range slices.Backward(versions) {
		if slices.Contains(going, v) {
			continue
		}
		if snap, err := h.Snapshot(v); err == nil && snap.Lineage == lineage {
			return h.Link(lineage, v)
		}
	}
	return h.Link(lineage, 0)
}

// Collect removes the bands that no snapshot refers to. It keeps the last one: the next snapshot
// appends to it.
func Collect(h *bands.Held) error {
	files, err := band.Files(h.BandsDir())
	if err != nil {
		return err
	}
	used, err := usedBands(h, files)
	if err != nil {
		return err
	}
	for i, f := range files {
		if used[f.Number] || i == len(files)-1 && !f.Raw {
			continue
		}
		if err := disk.Remove(filepath.Join(h.BandsDir(), f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// addDescribed adds the bands that snapshots list: if a snapshot's folder lacks a band, its records
// are read from the store's band.
func addDescribed(h *bands.Held, used map[uint32]bool) {
	snaps, _ := h.Snapshots() // for an unreadable one the bands in its folder count
	for _, snap := range snaps {
		for _, b := range snap.Bands {
			used[b.Number] = true
		}
	}
}

// usedBands returns the bands that snapshots refer to.
func usedBands(h *bands.Held, files []band.FileInfo) (map[uint32]bool, error) {
	used := map[uint32]bool{}
	if h.Linking() == disk.Hardlink {
		// Each snapshot has a hard link of its own, so the link counts show the use.
		for _, f := range files {
			info, err := os.Lstat(filepath.Join(h.BandsDir(), f.Name()))
			if err != nil {
				return nil, err
			}
			if bands.LinkCount(info) != 1 {
				used[f.Number] = true
			}
		}
		if len(used) < len(files) {
			addDescribed(h, used)
		}
		return used, nil
	}
	addDescribed(h, used)
	versions, err := h.Versions()
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		names, err := os.ReadDir(h.SnapshotDir(v))
		if err != nil {
			return nil, err
		}
		for _, e := range names {
			if n, _, ok := band.ParseName(e.Name()); ok {
				used[n] = true
			}
		}
	}
	return used, nil
}
