package btrfs

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Requests of linux/btrfs.h. Kernels with another encoding of requests, as on PowerPC, refuse them
// as unknown.
const (
	iocCreate   = 0x5000940e // BTRFS_IOC_SUBVOL_CREATE
	iocDestroy  = 0x5000940f // BTRFS_IOC_SNAP_DESTROY
	iocSnapshot = 0x50009417 // BTRFS_IOC_SNAP_CREATE_V2
	iocResize   = 0x50009403 // BTRFS_IOC_RESIZE
	iocGetFlags = 0x80089419 // BTRFS_IOC_SUBVOL_GETFLAGS
	iocSetFlags = 0x4008941a // BTRFS_IOC_SUBVOL_SETFLAGS
	iocInfo     = 0x81f8943c // BTRFS_IOC_GET_SUBVOL_INFO
	iocRootRef  = 0xd000943d // BTRFS_IOC_GET_SUBVOL_ROOTREF
	iocLookup   = 0xd000943e // BTRFS_IOC_INO_LOOKUP_USER
)

// rootInode is the inode number of a subvolume's root directory.
const rootInode = 256

// nameArgs is struct btrfs_ioctl_vol_args.
type nameArgs struct {
	_    int64
	name [4088]byte
}

// snapshotArgs is struct btrfs_ioctl_vol_args_v2.
type snapshotArgs struct {
	from  int64
	_     uint64
	flags uint64
	_     [4]uint64
	name  [4040]byte
}

// infoArgs is struct btrfs_ioctl_get_subvol_info_args.
type infoArgs struct {
	_          uint64
	_          [256]byte
	_, _       uint64
	generation uint64
	_          uint64
	uuid       [16]byte
	parent     [16]byte
	_          [16]byte
	_          uint64
	created    uint64
	_          [2]uint64
	_          [64]byte
	_          [8]uint64
}

// refArgs is struct btrfs_ioctl_get_subvol_rootref_args.
type refArgs struct {
	least uint64
	refs  [255]struct{ tree, dir uint64 }
	count uint8
	_     [7]byte
}

// lookupArgs is struct btrfs_ioctl_ino_lookup_user_args.
type lookupArgs struct {
	dir, tree uint64
	name      [256]byte
	path      [3824]byte
}

// IsSubvolume reports whether path is a subvolume.
func IsSubvolume(path string) bool {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil || st.Ino != rootInode || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return false
	}
	space, err := disk.SpaceAt(path)
	return err == nil && space.Type == "btrfs"
}

// Create makes an empty subvolume at path. The parent directory must exist.
func Create(path string) error {
	if err := disk.Step("subvolume", path); err != nil {
		return err
	}
	var args nameArgs
	return inParent("create subvolume", path, args.name[:], iocCreate, unsafe.Pointer(&args)) //nolint:gosec // the kernel's structure
}

// Snapshot makes a snapshot of the subvolume from at the path to, on the same file system. It is on
// the disk when Snapshot returns. Subvolumes inside from are empty directories in it.
func Snapshot(from, to string, mode Mode) error {
	if err := disk.Step("snapshot", to); err != nil {
		return err
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	args := snapshotArgs{from: int64(source.Fd()), flags: uint64(mode)}
	return inParent("snapshot "+from+" at", to, args.name[:], iocSnapshot, unsafe.Pointer(&args)) //nolint:gosec // the kernel's structure
}

// SetMode makes the subvolume at path read-only or writable. Files that are already open for
// writing stay writable.
func SetMode(path string, mode Mode) error {
	if err := disk.Step("subvolume mode", path); err != nil {
		return err
	}
	flags := uint64(mode)
	return at("set the mode of", path, iocSetFlags, unsafe.Pointer(&flags)) //nolint:gosec // the kernel's structure
}

// GetMode returns ReadOnly or Writable for the subvolume at path.
func GetMode(path string) (Mode, error) {
	var flags uint64
	err := at("get the mode of", path, iocGetFlags, unsafe.Pointer(&flags)) //nolint:gosec // the kernel's structure
	return Mode(flags) & ReadOnly, err
}

// Remove removes the subvolume at path with its contents in one step. If the file system doesn't
// permit that to the user, it removes file by file.
func Remove(path string) error {
	if err := disk.Step("remove subvolume", path); err != nil {
		return err
	}
	var args nameArgs
	err := inParent("remove subvolume", path, args.name[:], iocDestroy, unsafe.Pointer(&args)) //nolint:gosec // the kernel's structure
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err := SetMode(path, Writable); err != nil {
		return err
	}
	// The owner needs permission to remove entries of the directories.
	err = filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return os.Chmod(path, 0o700) //nolint:gosec // a folder
	})
	if err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// Stat describes the subvolume at path.
func Stat(path string) (Info, error) {
	var args infoArgs
	if err := at("describe", path, iocInfo, unsafe.Pointer(&args)); err != nil { //nolint:gosec // the kernel's structure
		return Info{}, err
	}
	return Info{UUID: hex.EncodeToString(args.uuid[:]), Generation: args.generation, Created: args.created}, nil
}

// Nested returns the paths, relative to the subvolume at path, of the subvolumes inside it.
func Nested(path string) ([]string, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	var names []string
	for least := uint64(0); ; {
		args := refArgs{least: least}
		err := ioctl(dir, iocRootRef, unsafe.Pointer(&args)) //nolint:gosec // the kernel's structure
		more := errors.Is(err, unix.EOVERFLOW)
		if err != nil && !more {
			return nil, explain("list the subvolumes in", path, err)
		}
		for _, ref := range args.refs[:args.count] {
			found := lookupArgs{dir: ref.dir, tree: ref.tree}
			if err := ioctl(dir, iocLookup, unsafe.Pointer(&found)); err != nil { //nolint:gosec // the kernel's structure
				return nil, explain("list the subvolumes in", path, err)
			}
			names = append(names, filepath.Join(unix.ByteSliceToString(found.path[:]), unix.ByteSliceToString(found.name[:])))
			least = ref.tree + 1
		}
		if !more {
			return names, nil
		}
	}
}

// Resize grows the file system of path, which is on one device, to the size of that device.
func Resize(path string) error {
	if err := disk.Step("resize", path); err != nil {
		return err
	}
	var args nameArgs
	copy(args.name[:], "max")
	return at("resize", path, iocResize, unsafe.Pointer(&args)) //nolint:gosec // the kernel's structure
}

// Sync waits until all changes of the file system of path are on the disk.
func Sync(path string) error {
	if err := disk.Step("sync", path); err != nil {
		return err
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(dir.Fd())), dir.Close())
}

// inParent calls a request that takes the base name of path, on the parent directory.
func inParent(what, path string, name []byte, request uintptr, args unsafe.Pointer) error {
	base := filepath.Base(path)
	if len(base) >= len(name) {
		return explain(what, path, unix.ENAMETOOLONG)
	}
	copy(name, base)
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	return explain(what, path, ioctl(dir, request, args))
}

// at calls a request on path itself.
func at(what, path string, request uintptr, args unsafe.Pointer) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	return explain(what, path, ioctl(dir, request, args))
}

func ioctl(f *os.File, request uintptr, args unsafe.Pointer) error {
	return disk.IgnoreEINTR(func() error {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), request, uintptr(args)); errno != 0 {
			return errno
		}
		return nil
	})
}

func explain(what, path string, err error) error {
	if errors.Is(err, unix.ENOTTY) {
		err = ErrNotBtrfs
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", what, path, err)
}
