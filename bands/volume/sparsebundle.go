package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/hdiutil"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// Sparsebundle is the driver of volumes that are sparse bundles of macOS, attached at their root.
// Its snapshots are folders with clones of the bundle's bands.
type Sparsebundle struct {
	// Store is the store's folder.
	Store string
	// Size is the maximum size of a new bundle, in bytes; 0: DefaultImageSize, or half of the free
	// space. A bundle takes no room until it is written.
	Size int64
}

const (
	bundleSuffix = ".sparsebundle"
	viewPrefix   = "view-" // folders of bundles attached for reading or editing; the process ID follows
)

// Name returns the driver's name.
func (Sparsebundle) Name() string { return "sparsebundle" }

func (d Sparsebundle) bundle() string {
	return filepath.Join(d.Store, filepath.Base(d.Store)+bundleSuffix)
}

func (d Sparsebundle) bands() string { return filepath.Join(d.bundle(), hdiutil.BandsFolder) }

// attached returns where the bundle is attached; empty if it isn't.
func attached(ctx context.Context, bundle string) (at string, err error) {
	list, err := hdiutil.Images(ctx)
	if err != nil {
		return "", err
	}
	for _, image := range list {
		if image.Path == bundle && len(image.Mounts) > 0 {
			return image.Mounts[0], nil
		}
	}
	return "", nil
}

// isMountPoint reports whether a file system is mounted at a folder.
func isMountPoint(dir string) (bool, error) {
	var here, above syscall.Stat_t
	if err := syscall.Stat(dir, &here); err != nil {
		return false, &fs.PathError{Op: "stat", Path: dir, Err: err}
	}
	if err := syscall.Stat(filepath.Dir(dir), &above); err != nil {
		return false, &fs.PathError{Op: "stat", Path: filepath.Dir(dir), Err: err}
	}
	return here.Dev != above.Dev, nil
}

// Missing makes a small bundle below dir, attaches it beside root, clones its bands and removes it.
func (d Sparsebundle) Missing(root, dir string) error {
	ctx := context.Background()
	if err := hdiutil.Available(ctx); errors.Is(err, proc.ErrNoProgram) {
		return errors.New("it needs hdiutil, a program of macOS")
	} else if err != nil {
		return err
	}
	beside, below, err := probeFolders(root, dir)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(beside) }() // empty, unless a step below failed
	const probeSize = 32 << 20
	probe := Sparsebundle{Store: below, Size: probeSize}
	err = hdiutil.Create(ctx, probe.bundle(), "probe", probeSize)
	if err == nil {
		err = hdiutil.Attach(ctx, probe.bundle(), beside, hdiutil.ReadWrite)
	}
	if err == nil {
		err = cloneBands(probe.bands(), filepath.Join(below, "clone"))
		if bad := hdiutil.Detach(ctx, beside, true); bad != nil {
			return errors.Join(err, bad) // SweepProbes finds the mount by the bundle
		}
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = fmt.Errorf("%s is on a file system that can't clone files", dir)
	}
	return errors.Join(err, os.RemoveAll(below))
}

// SweepProbes unmounts and removes the leftovers of killed processes' probes in a folder. No
// process may be probing there.
func SweepProbes(ctx context.Context, dir string) error {
	failed := sweepImages(dir)
	for _, bundle := range disk.Glob(dir, probePrefix+"*", "*"+bundleSuffix) {
		at, err := attached(ctx, bundle)
		if err == nil && at != "" {
			if err = hdiutil.Detach(ctx, at, true); err == nil {
				_ = os.Remove(at) // only if it is empty
			}
		}
		if err == nil {
			err = bands.RemoveAll(filepath.Dir(bundle))
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// Create makes a bundle and attaches it at the empty folder root, whose mode is kept.
func (d Sparsebundle) Create(root string) error {
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(d.bundle()); err == nil {
		if at, err := attached(context.Background(), d.bundle()); err != nil || at == root {
			return errors.Join(err, d.Check(root))
		}
	}
	if is, err := isMountPoint(root); err != nil || is {
		return errors.Join(err, inUse(root, "is a mount point"))
	}
	if err := checkEmpty(root); err != nil {
		return err
	}
	if _, err := os.Lstat(d.bundle()); errors.Is(err, fs.ErrNotExist) {
		if err := d.make(); err != nil {
			return err
		}
	}
	if err := d.Open(root); err != nil {
		return err
	}
	return os.Chmod(root, info.Mode().Perm())
}

// make makes the bundle, completely or not at all.
func (d Sparsebundle) make() error {
	const least = 16 << 20
	size, err := sizeFor(d.Store, d.Size, least)
	if err != nil {
		return err
	}
	temp := filepath.Join(d.Store, bands.MakingPrefix+"new"+bundleSuffix)
	if err := bands.RemoveAll(temp); err != nil {
		return err
	}
	if err := hdiutil.Create(context.Background(), temp, filepath.Base(d.Store), size); err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	var batch disk.Batch
	batch.Rename(temp, d.bundle())
	return batch.Commit()
}

// Open attaches the bundle at root, unless it is attached.
func (d Sparsebundle) Open(root string) error {
	if _, err := os.Lstat(d.bundle()); err != nil {
		return fmt.Errorf("%s: %w: its sparse bundle is missing: %w", root, ErrNotVolume, err)
	}
	at, err := attached(context.Background(), d.bundle())
	switch {
	case err != nil || at == root:
		return err
	case at != "":
		return inUse(root, "is attached at "+at)
	}
	if is, err := isMountPoint(root); err != nil || is {
		return errors.Join(err, inUse(root, "has something else mounted on it"))
	}
	return hdiutil.Attach(context.Background(), d.bundle(), root, hdiutil.ReadWrite)
}

// Close detaches the bundle. ErrInUse if a process uses it, unless lazy: then that gets errors.
func (d Sparsebundle) Close(root string, lazy bool) error {
	at, err := attached(context.Background(), d.bundle())
	if errors.Is(err, proc.ErrNoProgram) {
		return nil // then it isn't attached
	}
	if err != nil || at != root {
		return err
	}
	err = hdiutil.Detach(context.Background(), root, lazy)
	if errors.Is(err, hdiutil.ErrBusy) {
		return inUse(root, "is in use")
	}
	return err
}

// Thaw detaches and removes the views of killed processes.
func (d Sparsebundle) Thaw(string) (bool, error) { return endViews(context.Background(), d.Store) }

// endViews ends the views of processes that have exited, and reports whether there were any.
func endViews(ctx context.Context, store string) (bool, error) {
	did := false
	for _, dir := range disk.Glob(store, viewPrefix+"*") {
		pid, err := strconv.Atoi(strings.TrimPrefix(strings.SplitN(filepath.Base(dir), ".", 2)[0], viewPrefix)) //nolint:mnd // before and after
		if err != nil || proc.Alive(pid, 0) {
			continue
		}
		if err := endView(ctx, dir); err != nil {
			return did, err
		}
		did = true
	}
	return did, nil
}

// Room returns the maximum size of the file system, and how much room its bands take.
func (d Sparsebundle) Room() (Room, error) {
	size, err := hdiutil.Size(d.bundle())
	if err != nil {
		return Room{}, err
	}
	list, err := listBands(d.bands())
	room := Room{Size: size}
	for _, b := range list {
		room.Used += b.taken
	}
	return room, err
}

// Check returns the reason why root can't be snapshotted or replaced.
func (d Sparsebundle) Check(root string) error {
	if _, err := os.Lstat(d.bundle()); err != nil {
		return fmt.Errorf("%s: %w: its sparse bundle is missing: %w", root, ErrNotVolume, err)
	}
	at, err := attached(context.Background(), d.bundle())
	switch {
	case err != nil:
		return err
	case at == "":
		return fmt.Errorf("%s: %w", root, ErrNotOpen)
	case at != root:
		return fmt.Errorf("%s: %w: it is attached at %s", root, ErrNotVolume, at)
	}
	return checkMounts(root)
}

// ID returns the inode of the folder of bands, which is kept when the folder is moved.
func (d Sparsebundle) ID(path string) (string, error) {
	if rel, err := filepath.Rel(d.Store, path); err != nil || !filepath.IsLocal(rel) {
		path = d.bands()
	}
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return "", &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return strconv.FormatUint(st.Ino, 10), nil
}

// Unchanged reports whether no band was written since the snapshot.
func (d Sparsebundle) Unchanged(root, snapshot string) (bool, error) {
	if err := disk.Sync(root); err != nil {
		return false, err
	}
	now, err := listBands(d.bands())
	if err != nil {
		return false, err
	}
	then, err := listBands(snapshot)
	return err == nil && slices.EqualFunc(now, then, oneBand.same), err
}

// Snapshot syncs the volume and clones its bands. If a band was written meanwhile, it starts again:
// the clones are of one moment.
func (d Sparsebundle) Snapshot(root, to string) error {
	const most = 8
	for range most {
		if err := disk.Sync(root); err != nil {
			return err
		}
		before, err := listBands(d.bands())
		if err == nil {
			err = cloneBands(d.bands(), to)
		}
		if err != nil {
			return err
		}
		after, err := listBands(d.bands())
		if err != nil || slices.EqualFunc(before, after, oneBand.same) {
			return err
		}
		if err := bands.RemoveAll(to); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s %w: programs keep writing to it", root, ErrInUse)
}

// Clone makes a volume that is a copy of a snapshot.
func (Sparsebundle) Clone(snapshot, to string) error { return cloneBands(snapshot, to) }

// Exchange detaches the volume, by force if processes use it, exchanges its bundle's bands for
// other, and attaches it again. If that fails, the former bands are attached.
func (d Sparsebundle) Exchange(root, other string) error {
	err := d.Close(root, false)
	if errors.Is(err, ErrInUse) {
		err = d.Close(root, true)
	}
	if err != nil {
		return err
	}
	swap := func() error {
		return errors.Join(disk.Exchange(d.bands(), other), disk.SyncDir(d.bundle()), disk.SyncDir(filepath.Dir(other)))
	}
	if err := swap(); err != nil {
		return errors.Join(err, d.Open(root))
	}
	if err := d.Open(root); err != nil {
		return errors.Join(err, swap(), d.Open(root))
	}
	return nil
}

// Seal does nothing: the bands are no longer attached.
func (Sparsebundle) Seal(string) error { return nil }

// Remove removes the bands.
func (Sparsebundle) Remove(path string) error { return bands.RemoveAll(path) }

// Touched returns false: a sparse bundle has no record of changes.
func (Sparsebundle) Touched(_, _ string) (capture.TouchedPaths, bool, error) {
	return capture.TouchedPaths{}, false, nil
}

// Verify attaches a clone of the snapshot, which checks its file system's records.
func (d Sparsebundle) Verify(ctx context.Context, snapshot string) error {
	view, err := d.view(ctx, snapshot)
	if err != nil {
		return fmt.Errorf("%w: %w", bands.ErrDamaged, err)
	}
	return view.Close()
}
