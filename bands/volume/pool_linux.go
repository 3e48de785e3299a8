package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/btrfs"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/loopfs"
)

// Pool is the driver of volumes that are subvolumes of a Btrfs in a sparse file on another file
// system. The stores of a home directory share the file, which has their folders. A volume is
// mounted at its root. The driver needs the right to mount, and works on any file system.
type Pool struct {
	Subvolume

	// Store is the store's folder.
	Store string
}

const (
	poolKind   = "btrfs"
	poolFile   = ".pool.img" // in the folder of stores
	poolFolder = ".pool"     // where it is mounted: StoreDir
	leastPool  = 256 << 20
)

// Name returns the driver's name.
func (Pool) Name() string { return PoolDriver }

// live returns the path of the volume.
func (d Pool) live() string { return filepath.Join(d.Store, PoolVolume) }

// Missing makes a small Btrfs in a file below dir, mounts it without a mount point and removes it,
// unless there is a pool.
func (d Pool) Missing(_, dir string) error {
	if mounted, err := poolIsMounted(dir); err != nil || mounted {
		return err
	}
	if _, err := programPath("mkfs.btrfs"); err != nil {
		return errors.New("mkfs.btrfs isn't installed (the package btrfs-progs)")
	}
	below, err := probeFolder(dir)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(below) }()
	image := filepath.Join(below, "pool")
	if err := makePool(context.Background(), image, leastPool); err != nil {
		if os.Geteuid() != 0 {
			err = fmt.Errorf("needs root: %w", err) // mkfs.btrfs reads devices that are mounted
		}
		return err
	}
	mounted, err := loopfs.Open(image, poolKind, loopfs.ReadWrite)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("mounting needs root: %w", err)
	}
	if err != nil {
		return err
	}
	return errors.Join(btrfs.Create(filepath.Join(mounted.Dir(), "probe")), mounted.Close())
}

// makePool creates a sparse file with an empty Btrfs.
func makePool(ctx context.Context, path string, size int64) error {
	if err := disk.Step("image", path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		return err
	}
	return run(ctx, 0, "mkfs.btrfs", "-q", "-m", "single", "-L", "agentfs", path)
}

// poolIsMounted reports whether the pool in the folder of stores is mounted in its place.
func poolIsMounted(base string) (bool, error) {
	id, err := loopfs.FileID(filepath.Join(base, poolFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	at, is, err := loopfs.At(filepath.Join(base, poolFolder))
	return is && at.File == id, err
}

// MakePool makes and mounts the pool in the folder of stores, unless there is one. Its size is in
// bytes; 0: DefaultImageSize, or half of the free space. The caller holds the registry's lock.
func MakePool(ctx context.Context, base string, size int64) error {
	file := filepath.Join(base, poolFile)
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, OpenPool(base))
	}
	size, err := sizeFor(base, size, leastPool)
	if err != nil {
		return err
	}
	temp := file + bands.TempSuffix
	if err := makePool(ctx, temp, size); err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	var batch disk.Batch
	batch.Sync(temp)
	batch.Rename(temp, file)
	if err := batch.Commit(); err != nil {
		return err
	}
	return OpenPool(base)
}

// OpenPool mounts the pool in the folder of stores, if there is one and it isn't mounted. The
// caller holds the registry's lock.
func OpenPool(base string) error {
	file, folder := filepath.Join(base, poolFile), filepath.Join(base, poolFolder)
	if !PoolClosed(base) {
		return nil
	}
	if err := disk.Step("mkdir", folder); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	mounted, err := loopfs.Open(file, poolKind, loopfs.ReadWrite)
	if err != nil {
		return err
	}
	return errors.Join(mounted.Replace(folder), mounted.Close(), os.Chmod(folder, 0o700))
}

// PoolClosed reports whether there is a pool in the folder of stores that isn't mounted.
func PoolClosed(base string) bool {
	if _, err := os.Lstat(filepath.Join(base, poolFile)); err != nil {
		return false
	}
	mounted, err := poolIsMounted(base)
	return err == nil && !mounted
}

// ClosePool unmounts and removes the pool in the folder of stores if it has no stores. The caller
// holds the registry's lock.
func ClosePool(base string) error {
	file, folder := filepath.Join(base, poolFile), filepath.Join(base, poolFolder)
	if err := disk.Remove(file + bands.TempSuffix); err != nil {
		return err
	}
	mounted, err := poolIsMounted(base)
	if err != nil {
		return err
	}
	if !mounted {
		return nil // whether it has stores isn't known
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		return err
	}
	if err := loopfs.Unmount(folder, true); err != nil {
		return err
	}
	return errors.Join(disk.Remove(file), os.Remove(folder))
}

// grow enlarges the pool if little of it is free and the disk has room.
func (d Pool) grow() error {
	const little, more = 3, 2 // divisors of the pool's size; Btrfs needs unallocated room for its records
	folder := filepath.Dir(d.Store)
	file := filepath.Join(filepath.Dir(folder), poolFile)
	space, err := disk.SpaceAt(folder)
	if err != nil || space.Free > space.Total/little {
		return err
	}
	host, err := disk.SpaceAt(filepath.Dir(file))
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if host.Free-bands.DefaultFloor(host.Total) < info.Size()/more {
		return nil
	}
	if err := disk.Step("truncate", file); err != nil {
		return err
	}
	if err := os.Truncate(file, info.Size()+info.Size()/more); err != nil {
		return err
	}
	at, _, err := loopfs.At(folder)
	if err == nil {
		err = loopfs.Resize(at.Device)
	}
	if err == nil {
		err = btrfs.Resize(folder)
	}
	return err
}

// Room returns the size of the pool, and how much of it is allocated on the file system around it.
func (d Pool) Room() (Room, error) {
	around := filepath.Dir(filepath.Dir(d.Store))
	room, err := fileRoom(filepath.Join(around, poolFile))
	room.Disk = around
	return room, err
}

// Create makes a subvolume in the pool and mounts it on the empty folder root, whose mode it gets.
func (d Pool) Create(root string) error {
	if at, is, err := loopfs.At(root); err != nil {
		return err
	} else if is {
		if d.isLive(root) {
			return d.Check(root)
		}
		return inUse(root, "is a mount point, of "+orUnknown(at.Device))
	}
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if err := checkEmpty(root); err != nil {
		return err
	}
	if !btrfs.IsSubvolume(d.live()) {
		if err := btrfs.Create(d.live()); err != nil {
			return err
		}
	}
	uid, gid := owner(info)
	if err := errors.Join(os.Chown(d.live(), uid, gid), os.Chmod(d.live(), info.Mode().Perm())); err != nil {
		return err
	}
	return d.Open(root)
}

// isLive reports whether the volume is mounted at root.
func (d Pool) isLive(root string) bool { return sameSubvolume(root, d.live()) }

// sameSubvolume reports whether two paths lead to the same subvolume.
func sameSubvolume(a, b string) bool {
	one, err := btrfs.Stat(a)
	if err != nil {
		return false
	}
	two, err := btrfs.Stat(b)
	return err == nil && one.UUID == two.UUID
}

// Open mounts the volume at root, unless it is mounted. If a former volume of the store is still
// mounted there after an interrupted restore, Open replaces it in one step.
func (d Pool) Open(root string) error {
	if !btrfs.IsSubvolume(d.live()) {
		return fmt.Errorf("%s: %w: its subvolume is missing", root, ErrNotVolume)
	}
	_, is, err := loopfs.At(root)
	if err != nil {
		return err
	}
	if is {
		if d.isLive(root) {
			return nil
		}
		if !sameSubvolume(root, filepath.Join(d.Store, restoreFolder, bands.VolumeTree)) {
			return inUse(root, "has something else mounted on it")
		}
	}
	fresh, err := loopfs.Bind(d.live())
	if err != nil {
		return err
	}
	return errors.Join(fresh.Replace(root), fresh.Close(), d.grow())
}

// Close unmounts the volume. It returns ErrInUse if a process uses it, unless lazy: then the
// process can continue to use it.
func (d Pool) Close(root string, lazy bool) error {
	if _, is, err := loopfs.At(root); err != nil || !is || !d.isLive(root) {
		return err
	}
	err := loopfs.Unmount(root, lazy)
	if errors.Is(err, unix.EBUSY) {
		return inUse(root, "is in use")
	}
	return err
}

// Check returns the reason why root can't be snapshotted or replaced.
func (d Pool) Check(root string) error {
	if !btrfs.IsSubvolume(d.live()) {
		return fmt.Errorf("%s: %w: its subvolume is missing", root, ErrNotVolume)
	}
	_, is, err := loopfs.At(root)
	switch {
	case err != nil:
		return err
	case !is:
		return fmt.Errorf("%s: %w", root, ErrNotOpen)
	case !d.isLive(root):
		return fmt.Errorf("%s: %w: something else is mounted there", root, ErrNotVolume)
	}
	if err := checkMounts(root); err != nil {
		return err
	}
	return checkNested(root)
}

// Snapshot makes a read-only snapshot.
func (d Pool) Snapshot(_, to string) error {
	if err := d.grow(); err != nil {
		return err
	}
	return d.Subvolume.Snapshot(d.live(), to)
}

// Exchange exchanges the volume and other, and mounts the new volume.
func (d Pool) Exchange(root, other string) error {
	if err := d.Subvolume.Exchange(d.live(), other); err != nil {
		return err
	}
	fresh, err := loopfs.Bind(d.live())
	if err == nil {
		err = errors.Join(fresh.Replace(root), fresh.Close())
	}
	if err != nil && sameSubvolume(root, other) {
		return errors.Join(err, d.Subvolume.Exchange(d.live(), other))
	}
	return err
}
