package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/btrfs"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Subvolume is the driver of volumes that are subvolumes of a Btrfs. It needs neither root nor a
// mount of its own.
type Subvolume struct{}

// Name returns the driver's name.
func (Subvolume) Name() string { return "subvolume" }

// Missing makes a subvolume beside root, a snapshot of it below dir, a copy of that, and
// exchanges and removes them.
func (s Subvolume) Missing(root, dir string) error {
	beside, below, err := probeFolders(root, dir)
	if err != nil {
		return err
	}
	defer func() { // both are empty, unless a step below failed
		_ = os.Remove(below)
		_ = os.Remove(beside)
	}()
	live, taken, clone := filepath.Join(beside, "live"), filepath.Join(below, "taken"), filepath.Join(below, "clone")
	var undo []string
	try := func(path string, do func() error) error {
		err := do()
		if err == nil {
			undo = append(undo, path)
		}
		return err
	}
	err = try(live, func() error { return btrfs.Create(live) })
	if err == nil {
		err = try(taken, func() error { return btrfs.Snapshot(live, taken, btrfs.ReadOnly) })
	}
	if err == nil {
		err = try(clone, func() error { return btrfs.Snapshot(taken, clone, btrfs.Writable) })
	}
	if err == nil {
		err = disk.Exchange(live, clone)
	}
	for _, path := range undo {
		err = errors.Join(err, btrfs.Remove(path))
	}
	switch {
	case errors.Is(err, btrfs.ErrNotBtrfs):
		if space, bad := disk.SpaceAt(existing(root)); bad == nil && space.Type != "btrfs" {
			return fmt.Errorf("%s is on %s, not on Btrfs", root, orUnknown(space.Type))
		}
		return fmt.Errorf("%s is not on Btrfs", dir)
	case errors.Is(err, unix.EXDEV):
		return fmt.Errorf("%s and the store's folder %s are not in one mounted file system", root, dir)
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("the file system of %s is read-only", root)
	}
	return err
}

const (
	probePrefix = ".entire-probe-"
	probeAge    = time.Minute // older probes belong to killed processes
)

// probeFolders makes a folder for a probe beside root and one below dir.
func probeFolders(root, dir string) (beside, below string, err error) {
	if beside, err = probeFolder(filepath.Dir(root)); err != nil {
		return "", "", err
	}
	if below, err = probeFolder(dir); err != nil {
		_ = os.Remove(beside)
	}
	return beside, below, err
}

// probeFolder makes a folder in path, or in the first folder above it that exists, and removes the
// leftovers of killed processes there.
func probeFolder(path string) (string, error) {
	for {
		temp, err := os.MkdirTemp(path, probePrefix+"*")
		if err == nil {
			sweepProbes(path, temp)
		}
		if !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return temp, err
		}
		path = filepath.Dir(path)
	}
}

// sweepProbes removes the probes of killed processes in a folder, judging their age by the time of
// present, which was just made. Probes that can't be removed are left for the next call.
func sweepProbes(folder, present string) {
	now, err := os.Stat(present)
	if err != nil {
		return
	}
	entries, _ := os.ReadDir(folder) // there may be more than this user can list
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), probePrefix) || now.ModTime().Sub(info.ModTime()) < probeAge {
			continue
		}
		left := filepath.Join(folder, e.Name())
		inside, _ := os.ReadDir(left)
		for _, sub := range inside {
			_ = btrfs.Remove(filepath.Join(left, sub.Name()))
		}
		_ = os.Remove(left)
	}
}

func orUnknown(kind string) string {
	if kind == "" {
		return "another file system"
	}
	return kind
}

// existing returns path, or the first folder above it that exists.
func existing(path string) string {
	for path != filepath.Dir(path) {
		if _, err := os.Lstat(path); err == nil {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}

// Create replaces an empty folder by an empty subvolume with its mode.
func (s Subvolume) Create(root string) error {
	if btrfs.IsSubvolume(root) {
		return s.Check(root)
	}
	if inside, err := disk.MountsIn(root); err != nil || len(inside) > 0 {
		return errors.Join(err, inUse(root, "is a mount point, or has one in it"))
	}
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if err := os.Remove(root); errors.Is(err, unix.ENOTEMPTY) {
		return fmt.Errorf("%s: %w: only an empty folder can become a volume", root, ErrNotEmpty)
	} else if err != nil {
		return err
	}
	if err := btrfs.Create(root); err != nil {
		return errors.Join(err, os.Mkdir(root, info.Mode().Perm()))
	}
	return os.Chmod(root, info.Mode().Perm())
}

// Open does nothing: a subvolume is always in its place.
func (Subvolume) Open(string) error { return nil }

// Close does nothing.
func (Subvolume) Close(string, bool) error { return nil }

// Thaw does nothing.
func (Subvolume) Thaw(string) (bool, error) { return false, nil }

// Room returns zero: a subvolume has no limit.
func (Subvolume) Room() (Room, error) { return Room{}, nil }

// Check returns the reason why root can't be snapshotted or replaced.
func (Subvolume) Check(root string) error {
	if !btrfs.IsSubvolume(root) {
		return fmt.Errorf("%s: %w: it is not a Btrfs subvolume", root, ErrNotVolume)
	}
	if mode, err := btrfs.GetMode(root); err != nil || mode == btrfs.ReadOnly {
		return errors.Join(err, fmt.Errorf("%s: %w: it is a read-only subvolume", root, ErrNotVolume))
	}
	mounts, err := disk.MountsIn(root)
	if err != nil {
		return err
	}
	if slices.Contains(mounts, root) {
		return inUse(root, "is a mount point")
	}
	if err := checkMounts(root); err != nil {
		return err
	}
	return checkNested(root)
}

// checkMounts returns an error if a file system is mounted below root.
func checkMounts(root string) error {
	mounts, err := disk.MountsIn(root)
	mounts = slices.DeleteFunc(mounts, func(at string) bool { return at == root })
	if len(mounts) > 0 {
		return inUse(root, "has a mount point in it: "+mounts[0])
	}
	return err
}

// checkEmpty returns an error if the folder root has entries.
func checkEmpty(root string) error {
	entries, err := os.ReadDir(root)
	if len(entries) > 0 {
		return fmt.Errorf("%s: %w: only an empty folder can become a volume", root, ErrNotEmpty)
	}
	return err
}

// checkNested returns an error if the subvolume at root has other subvolumes in it.
func checkNested(root string) error {
	nested, err := btrfs.Nested(root)
	if err == nil && len(nested) > 0 {
		return inUse(root, "has a subvolume in it, which snapshots leave out: "+nested[0])
	}
	return err
}

func inUse(root, why string) error { return fmt.Errorf("%s %w: it %s", root, ErrInUse, why) }

// ID returns the UUID of the subvolume.
func (Subvolume) ID(path string) (string, error) {
	info, err := btrfs.Stat(path)
	return info.UUID, err
}

// Unchanged reports whether no transaction has changed the subvolume since the snapshot.
func (Subvolume) Unchanged(root, snapshot string) (bool, error) {
	if err := btrfs.Sync(root); err != nil {
		return false, err
	}
	now, err := btrfs.Stat(root)
	if err != nil {
		return false, err
	}
	then, err := btrfs.Stat(snapshot)
	return err == nil && now.Generation <= then.Created, err
}

// View returns the snapshot itself.
func (Subvolume) View(snapshot string) (View, error) { return View{Dir: snapshot}, nil }

// Verify returns an error if the snapshot is writable.
func (Subvolume) Verify(_ context.Context, snapshot string) error {
	mode, err := btrfs.GetMode(snapshot)
	if err == nil && mode != btrfs.ReadOnly {
		err = fmt.Errorf("%w: it is no longer read-only", bands.ErrDamaged)
	}
	return err
}

// Touched asks Btrfs for the writes since the two were one subvolume. Only root may do that.
func (Subvolume) Touched(a, b string) (capture.TouchedPaths, bool, error) {
	since, known, err := btrfs.Diverged(a, b)
	if errors.Is(err, fs.ErrPermission) {
		return capture.TouchedPaths{}, false, nil
	}
	if err != nil || !known {
		return capture.TouchedPaths{}, false, err
	}
	var all capture.TouchedPaths
	for _, path := range []string{a, b} {
		mode, err := btrfs.GetMode(path)
		if err == nil && mode != btrfs.ReadOnly {
			err = btrfs.Sync(path)
		}
		if err != nil {
			return capture.TouchedPaths{}, false, err
		}
		files, dirs, err := btrfs.Touched(path, since, math.MaxInt)
		if err != nil {
			return capture.TouchedPaths{}, false, err
		}
		all.Files, all.Dirs = append(all.Files, files...), append(all.Dirs, dirs...)
	}
	return all, true, nil
}

// Snapshot makes a read-only snapshot.
func (Subvolume) Snapshot(root, to string) error { return btrfs.Snapshot(root, to, btrfs.ReadOnly) }

// Clone makes a writable snapshot of a snapshot.
func (Subvolume) Clone(snapshot, to string) error {
	return btrfs.Snapshot(snapshot, to, btrfs.Writable)
}

// appear implements whole.
func (s Subvolume) appear(snapshot, to string) error { return s.Clone(snapshot, to) }

// Edit returns the volume itself.
func (Subvolume) Edit(volume string) (dir string, done func() error, err error) {
	return volume, func() error { return nil }, nil
}

// Exchange exchanges two subvolumes.
func (Subvolume) Exchange(root, other string) error {
	return errors.Join(disk.Exchange(root, other), btrfs.Sync(root))
}

// Seal makes the subvolume read-only.
func (Subvolume) Seal(path string) error { return btrfs.SetMode(path, btrfs.ReadOnly) }

// Remove removes the subvolume.
func (Subvolume) Remove(path string) error { return btrfs.Remove(path) }
