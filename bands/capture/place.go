package capture

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// bandFile finds a band. If it is missing, or shorter than in the parent, it is replaced by the
// parent's.
func (t *taking) bandFile(n uint32, length int64) (band.FileInfo, error) {
	f, err := band.StatFile(t.BandsDir(), n)
	if length == 0 || err == nil && f.Length >= length {
		return f, err
	}
	own, missing := band.StatFile(t.SnapshotDir(t.parent.Version), n)
	if missing != nil || own.Length < length {
		return f, err
	}
	to := filepath.Join(t.BandsDir(), own.Name())
	fresh := to + bands.TempSuffix
	if err := disk.Remove(fresh); err != nil {
		return f, err
	}
	if err := disk.LinkOrCopy(t.Linking(), filepath.Join(t.SnapshotDir(t.parent.Version), own.Name()), fresh); err != nil {
		return f, err
	}
	if err := disk.SyncFiles([]string{fresh}, nil); err != nil {
		return f, err
	}
	if err := disk.Rename(fresh, to); err != nil {
		return f, err
	}
	return own, disk.SyncDir(t.BandsDir())
}

// place puts the band into the folder of a new snapshot, and adds it to the batch if its content
// isn't synced along with the store's band. If the file system can clone, a band that has not grown
// since the parent becomes a hard link to the parent's clone.
func (t *taking) place(f band.FileInfo, dir string, batch *disk.Batch) error {
	from, to := filepath.Join(t.BandsDir(), f.Name()), filepath.Join(dir, f.Name())
	switch t.Linking() {
	case disk.Hardlink:
		return t.Hardlink(from, to)
	case disk.Reflink:
		length, ok := t.parent.BandLengths()[f.Number]
		repaired := slices.ContainsFunc(t.keep.repaired(), func(d band.Damaged) bool { return d.Ref.Band == f.Number })
		if !ok || length != f.Length || repaired {
			break
		}
		own := filepath.Join(t.SnapshotDir(t.parent.Version), f.Name())
		if info, err := os.Lstat(own); err != nil || info.Size() < f.Length {
			break // it is missing or truncated there
		}
		if err := disk.Step("link", to); err != nil {
			return err
		}
		if os.Link(own, to) == nil {
			return nil
		}
	default: // a copy
	}
	if err := disk.LinkOrCopy(t.Linking(), from, to); err != nil {
		return err
	}
	batch.Sync(to)
	return nil
}
