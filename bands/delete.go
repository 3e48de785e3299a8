package bands

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Delete removes snapshots, and then the bands that no snapshot refers to any
// more. Versions that aren't there are ErrNoSnapshot, and nothing is deleted.
// Their numbers never come again.
func (h *Held) Delete(versions ...Version) error {
	for _, v := range versions {
		if _, err := os.Lstat(h.SnapshotDir(v)); err != nil {
			return fmt.Errorf("delete snapshot %s: %w", v, ErrNoSnapshot)
		}
	}
	if len(versions) > 0 {
		if err := h.raise(slices.Max(versions)); err != nil {
			return err
		}
	}
	for _, v := range versions {
		if err := h.hide(v, versions); err != nil {
			return fmt.Errorf("delete snapshot %s: %w", v, err)
		}
	}
	// Else a power cut could leave a snapshot in the list that lacks its files.
	if err := disk.SyncDir(h.path(snapshotsFolder)); err != nil {
		return fmt.Errorf("delete snapshots: %w", err)
	}
	for _, v := range versions {
		if err := removeAll(h.removedDir(v)); err != nil {
			return fmt.Errorf("delete snapshot %s: %w", v, err)
		}
	}
	if err := h.collect(); err != nil {
		return fmt.Errorf("remove unused bands: %w", err)
	}
	return nil
}

func (h *Held) removedDir(v Version) string { return h.path(removedPrefix + v.String()) }

// hide renames a snapshot that is deleted, along with others.
func (h *Held) hide(v Version, others []Version) error {
	snap, err := h.Snapshot(v)
	if err == nil && h.linked(snap.Lineage) == v {
		if err := h.relink(snap.Lineage, others); err != nil {
			return err
		}
	}
	gone := h.removedDir(v)
	if err := removeAll(gone); err != nil {
		return err
	}
	if err := disk.Step("rename", gone); err != nil {
		return err
	}
	return os.Rename(h.SnapshotDir(v), gone)
}

// relink makes the lineage's link name its last snapshot that stays.
func (h *Held) relink(lineage string, going []Version) error {
	versions, err := h.Versions()
	if err != nil {
		return err
	}
	for _, v := range slices.Backward(versions) {
		if slices.Contains(going, v) {
			continue
		}
		if snap, err := h.Snapshot(v); err == nil && snap.Lineage == lineage {
			return h.link(lineage, v)
		}
	}
	return h.link(lineage, 0)
}

// collect removes the bands that no snapshot refers to. The last one stays: the
// next snapshot goes on with it.
func (h *Held) collect() error {
	files, err := band.Files(h.BandsDir())
	if err != nil {
		return err
	}
	used, err := h.usedBands(files)
	if err != nil {
		return err
	}
	for i, f := range files {
		if used[f.Number] || i == len(files)-1 && !f.Raw {
			continue
		}
		if err := removeFile(filepath.Join(h.BandsDir(), f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// addDescribed adds the bands that snapshots say they refer to: a snapshot whose
// folder has lost a band reads it from the store's.
func (h *Held) addDescribed(used map[uint32]bool) {
	snaps, _ := h.Snapshots() // of one that can't be read its folder counts
	for _, snap := range snaps {
		for _, b := range snap.Bands {
			used[b.Number] = true
		}
	}
}

// usedBands are the bands that snapshots refer to.
func (h *Held) usedBands(files []band.File) (map[uint32]bool, error) {
	used := map[uint32]bool{}
	if h.Linking() == disk.Hardlink {
		// A name of its own for each snapshot: the links count them.
		for _, f := range files {
			info, err := os.Lstat(filepath.Join(h.BandsDir(), f.Name()))
			if err != nil {
				return nil, err
			}
			if linkCount(info) != 1 {
				used[f.Number] = true
			}
		}
		if len(used) < len(files) {
			h.addDescribed(used)
		}
		return used, nil
	}
	h.addDescribed(used)
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
