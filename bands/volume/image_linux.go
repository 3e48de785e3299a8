package volume

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/loopfs"
	"github.com/seed-3aff656d/entire/internal/proc"
)

const (
	imageKind = "ext4"
	imageID   = "user.entire.id" // the attribute with the ID of an image
)

// Image is the driver of volumes that are file systems in a file, mounted at their root. It needs
// Linux, the right to mount, and a store's folder on a file system with reflinks. Its snapshots are
// copies of the file.
type Image struct {
	// Store is the store's folder.
	Store string
	// Size is the size of a new image, in bytes; 0: DefaultImageSize, or half of the free space.
	Size int64
}

// Name returns the driver's name.
func (Image) Name() string { return "image" }

func (d Image) live() string { return filepath.Join(d.Store, imageFile) }

// programPath finds a program, also in the directories of programs for root.
func programPath(name string) (string, error) {
	for _, dir := range []string{"/usr/sbin", "/sbin", "/usr/bin", "/bin"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, proc.ErrNoProgram)
}

// run runs a program and accepts exit statuses up to most.
func run(ctx context.Context, most int, name string, args ...string) error {
	path, err := programPath(name)
	if err != nil {
		return err
	}
	const outputLimit = 1 << 20
	out, err := proc.Run{Path: path, Args: args, Dir: "/", Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}, Limit: outputLimit}.Output(ctx)
	if failed, ok := errors.AsType[*proc.ExitError](err); ok && failed.Code > 0 {
		if failed.Code <= most {
			return nil
		}
		if failed.Stderr == "" {
			failed.Stderr = string(out)
		}
	}
	return err
}

// makeImage creates a sparse file with an empty file system whose root is owned by uid and gid.
func makeImage(path string, size int64, uid, gid int) error {
	if err := disk.Step("image", path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	loopfs.AllocateInUnits(f)
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		return err
	}
	err = run(context.Background(), 0, "mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-L", "agentfs",
		"-E", fmt.Sprintf("lazy_itable_init=0,lazy_journal_init=0,root_owner=%d:%d", uid, gid), path)
	return errors.Join(err, setID(path, ""))
}

// setID sets the ID of an image; an empty id is replaced by a new one.
func setID(path, id string) error {
	if id == "" {
		var random [16]byte
		if _, err := rand.Read(random[:]); err != nil {
			return err
		}
		id = hex.EncodeToString(random[:])
	}
	if err := unix.Setxattr(path, imageID, []byte(id), 0); err != nil {
		return &fs.PathError{Op: "setxattr", Path: path, Err: err}
	}
	return nil
}

// cloneImage makes to a copy of an image that shares its blocks, with a new ID. The copy is synced.
func cloneImage(from, to string) error {
	return cloneWhile(from, to, "", func(clone func() error) error { return clone() })
}

// cloneWhile is cloneImage with the given ID, or a new one for "". Only the clone runs in while.
func cloneWhile(from, to, id string, while func(clone func() error) error) error {
	if err := disk.Step("create", to); err != nil {
		return err
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	loopfs.AllocateInUnits(target)
	err = while(func() error { return disk.Clone(target, source) })
	if err == nil {
		err = setID(to, id)
	}
	if err == nil {
		err = target.Sync()
	}
	return errors.Join(err, target.Close())
}

// Create makes an image and mounts it on the empty folder root, whose mode is kept.
func (d Image) Create(root string) error {
	mounted, is, err := loopfs.At(root)
	if err != nil {
		return err
	}
	if is {
		if id, err := loopfs.FileID(d.live()); err == nil && id == mounted.File {
			return d.Check(root)
		}
		return inUse(root, "is a mount point")
	}
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if err := checkEmpty(root); err != nil {
		return err
	}
	if _, err := os.Lstat(d.live()); errors.Is(err, fs.ErrNotExist) {
		if err := d.make(info); err != nil {
			return err
		}
	}
	if err := d.Open(root); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(root, "lost+found")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Chmod(root, info.Mode().Perm())
}

// owner returns the user and group of a file; those of the process if they aren't known.
func owner(info fs.FileInfo) (uid, gid int) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return os.Geteuid(), os.Getegid()
	}
	return int(st.Uid), int(st.Gid)
}

// make makes the image, completely or not at all.
func (d Image) make(folder fs.FileInfo) error {
	const least = 16 << 20
	size, err := sizeFor(d.Store, d.Size, least)
	if err != nil {
		return err
	}
	uid, gid := owner(folder)
	temp := filepath.Join(d.Store, bands.MakingPrefix+imageFile)
	if err := makeImage(temp, size, uid, gid); err != nil {
		return errors.Join(err, os.RemoveAll(temp))
	}
	var batch disk.Batch
	batch.Sync(temp)
	batch.Rename(temp, d.live())
	return batch.Commit()
}

// Open mounts the volume at root, unless it is mounted. If a former volume of the store is still
// mounted there after an interrupted restore, Open replaces it in one step.
func (d Image) Open(root string) error {
	id, err := loopfs.FileID(d.live())
	if err != nil {
		return err
	}
	mounted, is, err := loopfs.At(root)
	if err != nil {
		return err
	}
	if is {
		if mounted.File == id {
			return nil
		}
		former, err := loopfs.FileID(filepath.Join(d.Store, restoreFolder, bands.VolumeTree))
		if err != nil || mounted.File != former {
			return inUse(root, "has something else mounted on it")
		}
	}
	fresh, err := loopfs.Open(d.live(), imageKind, loopfs.ReadWrite)
	if err != nil {
		return err
	}
	return errors.Join(fresh.Replace(root), fresh.Close())
}

// Close unmounts the volume. It returns ErrInUse if a process uses it, unless lazy: then the
// process can continue to use it.
func (d Image) Close(root string, lazy bool) error {
	id, err := loopfs.FileID(d.live())
	if err != nil {
		return err
	}
	mounted, is, err := loopfs.At(root)
	if err != nil || !is || mounted.File != id {
		return err
	}
	err = loopfs.Unmount(root, lazy)
	// The guard of the last snapshot has the volume open for some milliseconds more.
	const longest = 128 * time.Millisecond
	for pause := time.Millisecond; errors.Is(err, unix.EBUSY) && pause <= longest; pause *= 2 {
		time.Sleep(pause)
		err = loopfs.Unmount(root, lazy)
	}
	if errors.Is(err, unix.EBUSY) {
		return inUse(root, "is in use")
	}
	return err
}

// Check returns the reason why root can't be snapshotted or replaced.
func (d Image) Check(root string) error {
	id, err := loopfs.FileID(d.live())
	if err != nil {
		return fmt.Errorf("%s: %w: its image is missing: %w", root, ErrNotVolume, err)
	}
	mounted, is, err := loopfs.At(root)
	switch {
	case err != nil:
		return err
	case !is:
		return fmt.Errorf("%s: %w", root, ErrNotOpen)
	case mounted.File != id:
		return fmt.Errorf("%s: %w: something else is mounted there", root, ErrNotVolume)
	}
	return checkMounts(root)
}

// ID returns the ID attribute of the image at path, or of the live image if path is a folder.
func (d Image) ID(path string) (string, error) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		path = d.live()
	}
	var id [64]byte
	n, err := unix.Lgetxattr(path, imageID, id[:])
	if errors.Is(err, unix.ENODATA) {
		return "", nil // an incomplete copy
	}
	if err != nil {
		return "", &fs.PathError{Op: "getxattr", Path: path, Err: err}
	}
	return string(id[:n]), nil
}

// Unchanged returns false: an image has no record of writes.
func (Image) Unchanged(_, _ string) (bool, error) { return false, nil }

// Room returns the size of the image, and how much of it is allocated.
func (d Image) Room() (Room, error) { return fileRoom(d.live()) }

// fileRoom returns the size of a file, and how much of it is allocated.
func fileRoom(path string) (Room, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return Room{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	const sector = 512
	return Room{Size: st.Size, Used: st.Blocks * sector}, nil
}

// Snapshot freezes the volume, clones its image and thaws it.
func (d Image) Snapshot(root, to string) error {
	err := cloneWhile(d.live(), to, "", func(clone func() error) error { return d.frozen(root, clone) })
	if err != nil {
		return err
	}
	return os.Chmod(to, 0o400)
}

// Clone makes a volume that is a copy of a snapshot.
func (Image) Clone(snapshot, to string) error { return cloneImage(snapshot, to) }

// appear implements whole: it mounts a copy of the image, which is beside the folder.
func (Image) appear(snapshot, to string) (err error) {
	image := to + scratchImage
	if err := cloneImage(snapshot, image); err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	mounted, err := loopfs.Open(image, imageKind, loopfs.ReadWrite)
	if err != nil {
		return err
	}
	return errors.Join(mounted.Replace(to), mounted.Close())
}

// scratchImage is the suffix of an image that appear made.
const scratchImage = ".image"

// disappear removes the results of appear.
func disappear(to string) error {
	if _, is, err := loopfs.At(to); err == nil && is {
		if err := loopfs.Unmount(to, true); err != nil {
			return err
		}
	}
	return disk.Remove(to + scratchImage)
}

// Edit mounts the image for this process alone.
func (Image) Edit(volume string) (dir string, done func() error, err error) {
	mounted, err := loopfs.Open(volume, imageKind, loopfs.ReadWrite)
	if err != nil {
		return "", nil, err
	}
	return mounted.Dir(), mounted.Close, nil
}

// Exchange mounts the volume other at root. The images exchange their names, and the former volume
// is unmounted when no process uses it any more.
func (d Image) Exchange(root, other string) error {
	fresh, err := loopfs.Open(other, imageKind, loopfs.ReadWrite)
	if err != nil {
		return err
	}
	defer func() { _ = fresh.Close() }() // a mount that has a place stays
	swap := func() error {
		return errors.Join(disk.Exchange(d.live(), other), disk.SyncDir(d.Store), disk.SyncDir(filepath.Dir(other)))
	}
	if err := d.keepFormer(root); err != nil {
		return err
	}
	if err := swap(); err != nil {
		return err
	}
	if err := fresh.Replace(root); err != nil {
		if mounted, is, bad := loopfs.At(root); bad == nil && is {
			if id, bad := loopfs.FileID(other); bad == nil && id == mounted.File {
				return errors.Join(err, swap())
			}
		}
		return err
	}
	return nil
}

// keepFormer keeps a file system with many files open in another process until the restore has
// ended: its last user waits until the kernel has removed all of its inodes from memory.
func (d Image) keepFormer(root string) error {
	const many = 50_000
	var st unix.Statfs_t
	if err := unix.Statfs(root, &st); err != nil {
		return &fs.PathError{Op: "statfs", Path: root, Err: err}
	}
	if st.Type != unix.EXT4_SUPER_MAGIC || st.Files-st.Ffree < many {
		return nil
	}
	dir, err := os.Open(root)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	const script = `n=0; while [ -e "$1" ] && [ $n -lt 100 ]; do n=$((n+1)); sleep 0.2; done`
	release, err := proc.Guard{
		Path: "/bin/sh", Args: []string{"-c", script, "sh", filepath.Join(d.Store, journalFile)},
		Env: []string{"PATH=/usr/bin:/bin"}, Open: []*os.File{dir},
	}.Start()
	if err != nil {
		return err
	}
	release()
	return nil
}

// Seal makes the image at path a snapshot. If processes still use it, the snapshot is a copy of its
// present state, without their later writes.
func (d Image) Seal(path string) error {
	file, err := loopfs.FileID(path)
	if err != nil {
		return err
	}
	used, err := loopfs.Reopen(file, imageKind)
	switch {
	case errors.Is(err, loopfs.ErrNotAttached):
	case err != nil:
		return err
	default:
		if err := d.copySealed(used, path); err != nil {
			return err
		}
	}
	if err := disk.Step("chmod", path); err != nil {
		return err
	}
	return os.Chmod(path, 0o400)
}

// copySealed replaces an image that is in use, and mounted as used, by a copy of it. It
// closes used.
func (d Image) copySealed(used *loopfs.Detached, path string) error {
	id, err := d.ID(path)
	if err != nil {
		return errors.Join(err, used.Close())
	}
	sealed := path + bands.TempSuffix
	err = cloneWhile(path, sealed, id, func(clone func() error) error { return d.frozen(used.Dir(), clone) })
	if err = errors.Join(err, used.Close()); err != nil {
		return err
	}
	var batch disk.Batch
	batch.Rename(sealed, path)
	return batch.Commit()
}

// Remove removes the image.
func (Image) Remove(path string) error { return disk.Remove(path) }

// View mounts the snapshot for this process alone.
func (Image) View(snapshot string) (View, error) {
	mounted, err := loopfs.Open(snapshot, imageKind, loopfs.ReadOnly)
	if err != nil {
		return View{}, err
	}
	return View{Dir: mounted.Dir(), close: mounted.Close}, nil
}

// Verify checks the file system of a copy of the snapshot.
func (d Image) Verify(ctx context.Context, snapshot string) error {
	temp := filepath.Join(d.Store, bands.MakingPrefix+"verify-"+strconv.Itoa(os.Getpid()))
	if err := cloneImage(snapshot, temp); err != nil {
		return err
	}
	const mended = 1 // such as files that were deleted but open
	err := run(ctx, mended, "e2fsck", "-f", "-p", temp)
	if err != nil {
		err = fmt.Errorf("%w: %w", bands.ErrDamaged, err)
	}
	return errors.Join(err, disk.Remove(temp))
}

// Touched returns false: ext4 has no such record.
func (Image) Touched(_, _ string) (capture.TouchedPaths, bool, error) {
	return capture.TouchedPaths{}, false, nil
}
