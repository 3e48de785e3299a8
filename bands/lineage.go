package bands

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Lineage gives access to the snapshots of one worktree in a store.
type Lineage struct {
	store *Store
	name  string
}

// Lineage returns the lineage with the name; it may have no snapshots.
func (s *Store) Lineage(name string) Lineage { return Lineage{store: s, name: name} }

// Latest returns the lineage's last readable snapshot; false if it has none.
func (l Lineage) Latest() (Snapshot, bool, error) {
	// A process that was killed between making a snapshot and linking it is the last one that
	// reserved a version.
	last := l.store.Reserved()
	v := last.Version
	var err error
	if last.Lineage != l.name || !l.store.Has(v) {
		if v = l.Linked(); v == 0 || !l.store.Has(v) {
			v, err = l.highest()
		}
	}
	if err != nil || v == 0 {
		return Snapshot{}, false, err
	}
	snap, err := l.store.Snapshot(v)
	if errors.Is(err, ErrDamaged) || err == nil && snap.Lineage != l.name {
		if v, err = l.highest(); err != nil || v == 0 {
			return Snapshot{}, false, err
		}
		snap, err = l.store.Snapshot(v)
	}
	if err != nil {
		return Snapshot{}, false, err
	}
	return snap, true, nil
}

// Recent yields the lineage's last snapshot, then its parent and so on, at most most of them. It
// ends at one that can't be read.
func (l Lineage) Recent(most int) iter.Seq[Snapshot] {
	return func(yield func(Snapshot) bool) {
		snap, found, err := l.Latest()
		for n := 0; n < most && err == nil && found && yield(snap); n++ {
			found = snap.Parent != 0
			snap, err = l.store.Snapshot(snap.Parent)
		}
	}
}

// Linked returns the version that the lineage's link names, 0 if there is no link.
func (l Lineage) Linked() Version {
	link := l.store.Path(latestPrefix + l.name)
	target, err := os.Readlink(link)
	if err != nil {
		data, err := disk.ReadFile(link) // on systems without symlinks
		if err != nil {
			return 0
		}
		target = string(data)
	}
	v, err := ParseVersion(filepath.Base(target))
	if err != nil {
		return 0
	}
	return v
}

// highest returns the lineage's last version among all snapshots.
func (l Lineage) highest() (Version, error) {
	return l.last(func(Version) bool { return true })
}

// Paired returns the lineage's newest snapshot that represents the checkpoint, 0 if none does.
func (l Lineage) Paired(checkpoint string) (Version, error) {
	return l.last(func(v Version) bool {
		_, err := os.Lstat(pairPath(l.store.SnapshotDir(v), checkpoint))
		return err == nil
	})
}

// last returns the lineage's last version for which matches returns true, 0 if there is none.
func (l Lineage) last(matches func(Version) bool) (Version, error) {
	versions, err := l.store.Versions()
	if err != nil {
		return 0, err
	}
	for _, v := range slices.Backward(versions) {
		if !matches(v) {
			continue
		}
		if snap, err := l.store.Snapshot(v); err == nil && snap.Lineage == l.name {
			return v, nil
		}
	}
	return 0, nil
}
