// Package volume takes and restores snapshots of volumes: trees that a driver copies as a whole, at
// a cost independent of the number of files. A Driver has the parts that differ between kinds of
// volumes. This package has the versions, the descriptions, the order of the steps and the recovery
// after a crash at any of them. docs/formats/volumes.md describes the layout. Mirror makes a
// directory equal to another, for paths that are restored and for conversions.
//
// A snapshot is a folder that can be read like any other: bands.Store.VolumeDir.
package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// ErrNotVolume means that the folder at a store's root is not a volume of its driver.
var ErrNotVolume = errors.New("not a volume")

// ErrInUse means that the volume can't be replaced, as a file system is mounted in it or another
// volume is in it.
var ErrInUse = errors.New("can't be replaced")

// ErrNotOpen means that the volume isn't mounted.
var ErrNotOpen = errors.New("not mounted")

// ErrNotEmpty means that a folder with files in it can't become a volume.
var ErrNotEmpty = errors.New("not empty")

// MissingError is the reason why a driver doesn't work at a place.
type MissingError struct {
	Driver string
	Err    error
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("driver %s doesn't work here: %v", e.Driver, e.Err)
}

func (e *MissingError) Unwrap() error { return e.Err }

// Driver makes the volumes of one kind. A volume and its snapshots are folders. Every method is one
// step: it is done completely or not at all, even if the process is killed.
type Driver interface { //nolint:interfacebloat // what a file system must do: docs/adr/0018-volumes.md
	// Name is the driver's name in store.json and on the command line.
	Name() string
	// Missing tries all that the driver needs for a volume at root whose snapshots are below dir,
	// and leaves nothing behind. Neither needs to exist. The error is the reason why the driver
	// doesn't work there.
	Missing(root, dir string) error
	// Create makes an empty volume at root, which must be an empty folder. An existing volume there
	// is kept.
	Create(root string) error
	// Open makes the volume's files appear at root, unless they do already. After an interrupted
	// restore they replace the former ones. ErrInUse if something else is mounted there.
	Open(root string) error
	// Close makes the files disappear; they are kept. ErrInUse if a process uses them, unless lazy:
	// then the process may continue to use them.
	Close(root string, lazy bool) error
	// Thaw ends an unfinished snapshot of a killed process, and reports whether there was one.
	Thaw(root string) (bool, error)
	// Room returns the size of the volume; zero if only the disk limits it.
	Room() (Room, error)
	// Check returns the reason why the volume at root can't be snapshotted or replaced: ErrNotOpen,
	// ErrNotVolume, ErrInUse.
	Check(root string) error
	// ID identifies the volume or snapshot at path, wherever it is moved.
	ID(path string) (string, error)
	// Unchanged reports whether the volume at root is equal to the snapshot of it. It may return
	// false though nothing has changed.
	Unchanged(root, snapshot string) (bool, error)
	// View opens the files of a snapshot for reading.
	View(snapshot string) (View, error)
	// Verify checks a snapshot as far as the driver can without reading its files.
	Verify(ctx context.Context, snapshot string) error
	// Touched returns the paths that may differ between two volumes or snapshots, at a cost
	// proportional to the differences; false if the driver has no record of them.
	Touched(a, b string) (capture.TouchedPaths, bool, error)
	// Snapshot makes a read-only copy of the volume at root. It is synced when Snapshot returns.
	Snapshot(root, to string) error
	// Clone makes a volume that is a copy of a snapshot.
	Clone(snapshot, to string) error
	// Edit makes the files of a volume that isn't at a root accessible for changes, until done is
	// called.
	Edit(volume string) (dir string, done func() error, err error)
	// Exchange exchanges the places of two volumes, durably.
	Exchange(root, other string) error
	// Seal makes the volume at path a snapshot. Processes that have its files open for writing can
	// still write to them.
	Seal(path string) error
	// Remove removes a volume or snapshot with its contents.
	Remove(path string) error
}

// Place is the location of a volume and its snapshots.
type Place struct {
	// Store is the store's folder.
	Store string
	// Size is the size of a new volume, in bytes, for drivers that need it; 0 is their default.
	Size int64
}

// Room is the size of a volume, and how much of it is allocated on the disk, in bytes. Disk is a
// folder of the file system on which it is allocated, if that isn't the store's.
type Room struct {
	Size, Used int64
	Disk       string
}

// Unwritten returns how much more of the disk the volume may take.
func (r Room) Unwritten() int64 { return max(0, r.Size-r.Used) }

// Named returns the driver of that name; false if there is none.
func Named(name string, at Place) (Driver, bool) { //nolint:ireturn // a driver by its name
	for _, d := range Drivers(at) {
		if d.Name() == name {
			return d, true
		}
	}
	return nil, false
}

// Drivers returns all drivers, the preferred ones first.
func Drivers(at Place) []Driver { return driversOf(at.Store, at.Size) }

// DefaultImageSize is the maximum default size of an image or a sparse bundle, in bytes.
const DefaultImageSize = 50 << 30

// sizeFor returns the size of a new image in a folder, in whole megabytes: want, or by default at
// most half of the free space above the floor.
func sizeFor(dir string, want, least int64) (int64, error) {
	given := want > 0
	if !given {
		space, err := disk.SpaceAt(dir)
		if err != nil {
			return 0, err
		}
		want = min(DefaultImageSize, (space.Free-bands.DefaultFloor(space.Total))/2) //nolint:mnd // half
	}
	switch want &^= 1<<20 - 1; {
	case want >= least:
		return want, nil
	case given:
		return 0, fmt.Errorf("the size is too small: the driver needs at least %dM", least>>20) //nolint:mnd // megabytes
	}
	return 0, fmt.Errorf("%w: the driver needs at least %dM", bands.ErrNoRoom, least>>20) //nolint:mnd // megabytes
}

// imageFile is the name of the volume in the folder of a store of images, and of their driver.
const imageFile = "image"

// PoolDriver is the name of the driver whose stores are in a file system of their own, PoolVolume
// that of the volume in the folder of such a store.
const (
	PoolDriver = "pool"
	PoolVolume = "volume"
)

// UsesPool reports whether stores of the driver of that name are in the pool.
func UsesPool(driver string) bool { return driver == PoolDriver }

// StoreDir returns the folder of the store called name, of the given driver, in the folder base of
// stores.
func StoreDir(base, driver, name string) string {
	if UsesPool(driver) {
		base = filepath.Join(base, ".pool")
	}
	return filepath.Join(base, name)
}

// Contained reports whether volumes of the driver of that name are in the store's folder: then they
// have a size and are deleted with the store.
func Contained(name string) bool {
	return name == "image" || name == PoolDriver || name == Sparsebundle{}.Name()
}

// TakeOptions describe a snapshot to take.
type TakeOptions struct {
	bands.Options

	Message   string
	Cause     bands.Cause
	Causality bands.Causality
	// Force takes a snapshot even below the free-space floor.
	Force bool
	// SkipUnchanged takes no snapshot if nothing has changed since the last one.
	SkipUnchanged bool
}

// Take takes a snapshot of the volume at Root. It returns false and the last snapshot if nothing
// has changed and SkipUnchanged is set. If it is killed at any moment, the store either has the
// complete new snapshot or doesn't have it.
func Take(h *bands.Held, d Driver, o TakeOptions) (snap bands.Snapshot, taken bool, err error) {
	defer func() {
		if err != nil {
			snap, taken, err = bands.Snapshot{}, false, fmt.Errorf("take snapshot of %s: %w", o.Root, err)
		}
	}()
	set, err := h.ResolveOptions(o.Options)
	if err != nil {
		return snap, false, err
	}
	if !o.Force {
		if err := CheckRoom(h.Store, d, o.Options); err != nil {
			return snap, false, err
		}
	}
	if err := d.Check(set.Root); err != nil {
		return snap, false, err
	}
	parent, has, err := h.Lineage(set.Lineage).Latest()
	if err != nil {
		return snap, false, err
	}
	if has && o.SkipUnchanged {
		if same, err := d.Unchanged(set.Root, h.VolumeDir(parent.Version)); err != nil || same {
			return parent, false, err
		}
	}
	if err := h.Sweep(); err != nil {
		return snap, false, err
	}
	next, err := h.Next(set.Lineage, 0)
	if err != nil {
		return snap, false, err
	}
	making := h.Path(bands.MakingPrefix + next.Version.String())
	if err := disk.Step("mkdir", making); err != nil {
		return snap, false, err
	}
	if err := os.Mkdir(making, 0o700); err != nil {
		return snap, false, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, bands.RemoveAll(making)) // else the next snapshot sweeps it
		}
	}()
	if err := d.Snapshot(set.Root, filepath.Join(making, bands.VolumeTree)); err != nil {
		return snap, false, err
	}
	snap = bands.Snapshot{
		Version: next.Version, Message: o.Message, Cause: o.Cause, Created: set.Now().UTC(), Parent: parent.Version,
		Root: set.Root, Lineage: set.Lineage, Volume: d.Name(), Causality: o.Causality,
	}
	return snap, true, publish(h, snap, next, making)
}

// CheckRoom returns bands.ErrNoRoom, wrapped, if there is no room for an automatic snapshot. The
// file system of the store must have the default floor free, and that on which the volume
// is allocated the floor of the options, also if the volume grew to its size.
func CheckRoom(s *bands.Store, d Driver, o bands.Options) error {
	room, err := d.Room()
	if err != nil {
		return err
	}
	within, err := disk.SpaceAt(s.Dir())
	if err != nil {
		return err
	}
	on := within
	if room.Disk != "" {
		if err := bands.CheckFree(within.Free, bands.DefaultFloor(within.Total)); err != nil {
			return fmt.Errorf("in the file system of the volume: %w", err)
		}
		if on, err = disk.SpaceAt(room.Disk); err != nil {
			return err
		}
	}
	least := o.Floor
	if least <= 0 {
		least = bands.DefaultFloor(on.Total)
	}
	err = bands.CheckFree(on.Free-room.Unwritten(), least)
	if err != nil && room.Unwritten() > 0 {
		err = fmt.Errorf("if the volume grew to its size: %w", err)
	}
	return err
}

// publish publishes a snapshot whose files are in the folder making.
func publish(h *bands.Held, snap bands.Snapshot, next bands.Reservation, making string) error {
	if err := h.Publish(bands.Described{Format: bands.VolumeFormat, Snapshot: snap}, next, making, &disk.Batch{}); err != nil {
		return err
	}
	// Readers of the link read the reservation first. If the link can't be made here, the next
	// snapshot makes it.
	_ = h.Link(snap.Lineage, snap.Version)
	return nil
}
