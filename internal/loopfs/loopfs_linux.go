package loopfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Requests of linux/fs.h, and a flag of linux/mount.h that x/sys doesn't have.
const (
	iocFreeze      = 0xc0045877 // FIFREEZE
	iocThaw        = 0xc0045878 // FITHAW
	moveMountBelow = 0x200      // MOVE_MOUNT_BENEATH
	loopSetSize    = 0x4c07     // LOOP_SET_CAPACITY
	sectorSize     = 512
	attachAttempts = 16 // other programs take loop devices, too
)

// FileID identifies the file at path, even after a rename within its file system.
func FileID(path string) (string, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return "", &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return fileID(uint64(st.Dev), st.Ino), nil //nolint:unconvert // another type elsewhere
}

func fileID(dev, inode uint64) string {
	return strconv.FormatUint(dev, 10) + ":" + strconv.FormatUint(inode, 10)
}

// attach gives the file a loop device, with direct I/O if the file system supports it. The kernel
// detaches the device on its last close. The caller closes it; a mount keeps it attached.
func attach(path string, access Access) (*os.File, error) {
	flag, flags := os.O_RDWR, uint32(unix.LO_FLAGS_AUTOCLEAR)
	if access == ReadOnly {
		flag, flags = os.O_RDONLY, flags|unix.LO_FLAGS_READ_ONLY
	}
	image, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = image.Close() }() // the device has it open
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = control.Close() }()
	for attempt := 0; ; attempt++ {
		number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("find a free loop device: %w", err)
		}
		device, err := os.OpenFile("/dev/loop"+strconv.Itoa(number), flag, 0)
		if err != nil {
			return nil, fmt.Errorf("open a loop device: %w", err)
		}
		config := unix.LoopConfig{Fd: uint32(image.Fd()), Info: unix.LoopInfo64{Flags: flags | unix.LO_FLAGS_DIRECT_IO}}
		copy(config.Info.File_name[:], path)
		err = unix.IoctlLoopConfigure(int(device.Fd()), &config)
		if errors.Is(err, unix.EINVAL) { // no direct I/O on this file system
			config.Info.Flags = flags
			err = unix.IoctlLoopConfigure(int(device.Fd()), &config)
		}
		if err == nil {
			return device, nil
		}
		_ = device.Close()
		if !errors.Is(err, unix.EBUSY) || attempt == attachAttempts {
			return nil, fmt.Errorf("attach %s to a loop device: %w", path, err)
		}
	}
}

// Detached is a mount without a mount point: it ends when it is closed, or when the process exits.
type Detached struct {
	dir  *os.File
	kind string // of its file system; empty for a bind mount
}

// Open mounts the file system of the kind (ext4) in the file at path, without a mount point.
func Open(path, kind string, access Access) (*Detached, error) {
	device, err := attach(path, access)
	if err != nil {
		return nil, err
	}
	d, err := mountDevice(device.Name(), kind, access)
	if err = errors.Join(err, device.Close()); err != nil {
		return nil, fmt.Errorf("mount %s: %w", path, err)
	}
	return d, nil
}

// mountDevice mounts a device without a mount point, even if it is mounted already.
func mountDevice(device, kind string, access Access) (*Detached, error) {
	config, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("fsopen: %w", err)
	}
	defer func() { _ = unix.Close(config) }()
	attributes := unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	err = unix.FsconfigSetString(config, "source", device)
	if access == ReadOnly {
		attributes |= unix.MOUNT_ATTR_RDONLY
		// A snapshot is taken while frozen, so its journal is empty.
		err = errors.Join(err, unix.FsconfigSetFlag(config, "ro"), unix.FsconfigSetFlag(config, "noload"))
	} else {
		err = errors.Join(err, unix.FsconfigSetFlag(config, "discard"))
	}
	if err = errors.Join(err, unix.FsconfigCreate(config)); err != nil {
		return nil, fmt.Errorf("fsconfig: %w", err)
	}
	fd, err := unix.Fsmount(config, unix.FSMOUNT_CLOEXEC, attributes)
	if err != nil {
		return nil, fmt.Errorf("fsmount: %w", err)
	}
	return &Detached{os.NewFile(uintptr(fd), device), kind}, nil
}

// Bind makes another mount of the directory at path, without a mount point.
func Bind(path string) (*Detached, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return nil, named("bind", path, err)
	}
	return &Detached{dir: os.NewFile(uintptr(fd), path)}, nil
}

// Resize adapts the size of a loop device to its file.
func Resize(device string) error {
	return call(device, "resize", func(fd int) error { return unix.IoctlSetInt(fd, loopSetSize, 0) })
}

// Dir returns a path at which this process can access the files until Close.
func (d *Detached) Dir() string { return "/proc/self/fd/" + strconv.Itoa(int(d.dir.Fd())) }

// Close unmounts it, unless Replace gave it a mount point.
func (d *Detached) Close() error { return d.dir.Close() }

// Replace mounts d at root in place of the existing mount, which is unmounted when it is no longer
// in use. The directory below is never visible if the kernel supports that (from 6.5). If nothing
// is mounted at root, d is mounted on the directory.
func (d *Detached) Replace(root string) error {
	at, mounted, err := At(root)
	if err != nil {
		return err
	}
	if err := disk.Step("mount", root); err != nil {
		return err
	}
	move := func(flags int) error {
		return unix.MoveMount(int(d.dir.Fd()), "", unix.AT_FDCWD, root, unix.MOVE_MOUNT_F_EMPTY_PATH|flags)
	}
	if !mounted {
		return named("mount", root, move(0))
	}
	err = move(moveMountBelow)
	if err == nil {
		return named("unmount", root, unmount(root))
	}
	if !errors.Is(err, unix.EINVAL) {
		return named("mount", root, err)
	}
	// Kept open, the former device keeps its file without a mount.
	device, deviceErr := openDevice(at.Device, at.File)
	if deviceErr == nil {
		defer func() { _ = device.Close() }()
	}
	if err := unmount(root); err != nil {
		return named("unmount", root, err)
	}
	if err = move(0); err != nil && deviceErr == nil && d.kind != "" {
		if former, bad := mountDevice(at.Device, d.kind, ReadWrite); bad == nil {
			err = errors.Join(err, former.Replace(root), former.Close())
		}
	}
	return named("mount", root, err)
}

// unmount unmounts root. Processes that use the mount keep it.
func unmount(root string) error { return unix.Unmount(root, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) }

// Unmount unmounts root. The error is unix.EBUSY if the mount is in use, unless lazy.
func Unmount(root string, lazy bool) error {
	if err := disk.Step("unmount", root); err != nil {
		return err
	}
	flags := unix.UMOUNT_NOFOLLOW
	if lazy {
		flags |= unix.MNT_DETACH
	}
	return named("unmount", root, unix.Unmount(root, flags))
}

func named(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// At returns the mount at root, and whether there is one. The zero Mount with true means that it is
// not a file system in a file.
func At(root string) (m Mount, mounted bool, err error) {
	all, err := disk.Mounts()
	for _, on := range all {
		if on.At == root {
			mounted, m = true, Mount{Device: loopDevice(on)} // later mounts are on top
		}
	}
	if m.Device != "" {
		m.File, err = backing(m.Device)
	}
	return m, mounted, err
}

// Places returns the paths where the file is mounted.
func Places(file string) ([]string, error) {
	devices, err := Find(file)
	if err != nil || len(devices) == 0 {
		return nil, err
	}
	all, err := disk.Mounts()
	var places []string
	for _, on := range all {
		if slices.Contains(devices, loopDevice(on)) {
			places = append(places, on.At)
		}
	}
	return places, err
}

// loopDevice returns the mounted loop device, or "" for another source.
func loopDevice(m disk.Mounted) string {
	if strings.HasPrefix(m.Source, "/dev/loop") {
		return m.Source
	}
	return ""
}

// backing returns the FileID of the file of a loop device, or "" if it has none.
func backing(device string) (string, error) {
	f, err := os.Open(device)
	if err != nil {
		return "", err
	}
	file, err := fileOf(f)
	return file, errors.Join(err, f.Close())
}

// fileOf is backing for an open device.
func fileOf(device *os.File) (string, error) {
	info, err := unix.IoctlLoopGetStatus64(int(device.Fd()))
	if errors.Is(err, unix.ENXIO) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", device.Name(), err)
	}
	return fileID(info.Device, info.Inode), nil
}

// ErrNotAttached means that a loop device, or every one, has another file or none.
var ErrNotAttached = errors.New("not attached to a loop device")

// openDevice opens a loop device that has the file; otherwise it returns ErrNotAttached. The
// device keeps the file while it is open. A device that is neither open nor mounted loses its
// file, and another process can attach another one.
func openDevice(device, file string) (*os.File, error) {
	f, err := os.Open(device)
	if err != nil {
		return nil, err
	}
	now, err := fileOf(f)
	if err == nil && now != file {
		err = fmt.Errorf("%w: %s", ErrNotAttached, device)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Find returns the loop devices of the file.
func Find(file string) ([]string, error) {
	list, err := filepath.Glob("/sys/block/loop*/loop/backing_file") //nolint:forbidigo // the whole path is constant
	if err != nil {
		return nil, err
	}
	var found []string
	for _, path := range list {
		device := "/dev/" + strings.Split(path, "/")[3]
		if id, err := backing(device); err == nil && id == file {
			found = append(found, device)
		}
	}
	return found, nil
}

// Reopen mounts the file system of an attached file again, without a mount point. It returns
// ErrNotAttached if no loop device has the file.
func Reopen(file, kind string) (*Detached, error) {
	devices, err := Find(file)
	if err != nil {
		return nil, err
	}
	for _, name := range devices {
		device, err := openDevice(name, file)
		if errors.Is(err, ErrNotAttached) {
			continue
		}
		if err != nil {
			return nil, err
		}
		d, err := mountDevice(name, kind, ReadWrite)
		if err = errors.Join(err, device.Close()); err != nil {
			return nil, fmt.Errorf("mount %s: %w", name, err)
		}
		return d, nil
	}
	return nil, ErrNotAttached
}

// Freeze syncs the file system at dir and blocks all writes to it until Thaw.
func Freeze(dir string) error {
	return call(dir, "freeze", func(fd int) error { return unix.IoctlSetInt(fd, iocFreeze, 0) })
}

// Thaw ends Freeze. The error is ErrNotFrozen if the file system is not frozen.
func Thaw(dir string) error {
	err := call(dir, "thaw", func(fd int) error { return unix.IoctlSetInt(fd, iocThaw, 0) })
	if errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("%w: %s", ErrNotFrozen, dir)
	}
	return err
}

// ErrNotFrozen means that a file system was not frozen.
var ErrNotFrozen = errors.New("not frozen")

// call makes a system call on the file, directory or device at path.
func call(path, op string, do func(fd int) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(disk.Syscall(op, f, do), f.Close())
}

// Sync syncs the file system at dir.
func Sync(dir string) error {
	return call(dir, "sync", unix.Syncfs)
}
