//go:build fs

package testkit

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Kinds of file systems that Mount makes.
const (
	Ext4  = "ext4"  // hard links, no reflinks
	XFS   = "xfs"   // reflinks
	Btrfs = "btrfs" // reflinks
	VFAT  = "vfat"  // neither, and no permissions, links or fine timestamps
	ExFAT = "exfat" // as vfat; with a FUSE program if the system has it
	Tmpfs = "tmpfs" // hard links, no reflinks
)

// Mount makes a file system of the given kind and size (at least the minimum of the kind), and
// mounts it for the test. It returns the mount point. If that fails, the test is skipped.
func Mount(t testing.TB, kind string, sizeMB int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), kind)
	MountAt(t, kind, sizeMB, dir)
	return dir
}

// MountAt is Mount at the directory dir, which it creates.
func MountAt(t testing.TB, kind string, sizeMB int, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting needs root")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if kind == Tmpfs {
		mount(t, dir, "mount", "-t", "tmpfs", "tmpfs", dir)
		return
	}
	image := filepath.Join(t.TempDir(), "image")
	MakeImage(t, kind, sizeMB, image)
	MountImage(t, kind, image, dir)
}

// MakeImage creates a file with a file system of the given kind.
func MakeImage(t testing.TB, kind string, sizeMB int, image string) {
	t.Helper()
	mkfs, least := makerOf(kind)
	if mkfs == nil {
		t.Fatalf("no such kind of file system: %s", kind)
	}
	if _, err := exec.LookPath(mkfs[0]); err != nil {
		t.Skipf("no %s", mkfs[0])
	}
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, int64(max(sizeMB, least))<<20)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(mkfs[0], append(mkfs[1:], image)...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", mkfs, err, out)
	}
}

// MountImage mounts an image of MakeImage at dir, which it creates, until the test ends or the
// image is unmounted.
func MountImage(t testing.TB, kind, image, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("mount.exfat-fuse"); kind == ExFAT && err == nil {
		kind = "exfat-fuse"
	}
	mount(t, dir, "mount", "-t", kind, "-o", "loop", image, dir)
}

// makerOf returns the program that makes a file system, and the minimum size in megabytes; nil for
// an unknown kind.
func makerOf(kind string) (mkfs []string, least int) {
	switch kind {
	case Ext4:
		return []string{"mkfs.ext4", "-q", "-m", "0"}, 8
	case XFS:
		return []string{"mkfs.xfs", "-q", "-m", "reflink=1"}, 300
	case Btrfs:
		return []string{"mkfs.btrfs", "-q"}, 128
	case VFAT:
		return []string{"mkfs.vfat"}, 8
	case ExFAT:
		return []string{"mkfs.exfat"}, 8
	}
	return nil, 0
}

// Bind mounts from, a file or a directory, at to until the test ends.
func Bind(t testing.TB, from, to string) {
	t.Helper()
	mount(t, to, "mount", "--bind", from, to)
}

// mount runs a command that mounts a file system at dir, until the test ends.
func mount(t testing.TB, dir, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Skipf("can't be mounted here: %q: %s", args, out)
	}
	t.Cleanup(func() {
		if exec.Command("mountpoint", "-q", dir).Run() != nil {
			return
		}
		if out, err := exec.Command("umount", "--lazy", dir).CombinedOutput(); err != nil {
			t.Errorf("umount %s: %v\n%s", dir, err, out)
		}
	})
}
