//go:build faults && linux

package dirfd_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// TestEveryWriteIsAStep checks that every write is a step, and that nothing is written if it fails.
func TestEveryWriteIsAStep(t *testing.T) {
	dir := t.TempDir()
	d := root(t, dir)
	write(t, d, "file", "text")
	must(t, d.Mkdir("sub", 0o700), d.Symlink("file", "link"))
	path := filepath.Join(dir, "file")
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer func() { _ = f.Close() }()
	before := survey(t, dir)
	t.Setenv("ENTIRE_FAULT", "fail:1")
	for name, err := range map[string]error{
		"create": errorOf(d.Create("new", 0o600)), "mkdir": d.Mkdir("new", 0o700),
		"rename": d.Rename("file", d, "new"),
		"unlink": d.Unlink("file"), "rmdir": d.Rmdir("sub"), "symlink": d.Symlink("x", "new"), "link": d.Link("file", d, "new"),
		"times": d.Entry("file").SetTime(time.Unix(1, 1)), "own times": d.SetTime(time.Unix(1, 1)), "own mode": d.Chmod(0o777), "own owner": d.Chown(1, 1), "chmod": d.Entry("file").Chmod(0o777), "chown": d.Entry("file").Chown(1, 1),
		"clone": disk.Clone(f, f), "clone range": disk.CloneRange(f, 0, f, 0, 1), "clone file": disk.CloneFile(f, path+".new"),
		"place link": disk.LinkOrCopy(disk.Hardlink, path, path+".new"), "place clone": disk.LinkOrCopy(disk.Reflink, path, path+".new"),
		"place copy": disk.LinkOrCopy(disk.Copy, path, path+".new"), "copy": disk.CopyFile(path, path+".new"),
		"linking": errorOf(disk.LinkingAt(dir)), "punch": disk.PunchHole(f, 0, 4096), "sync": disk.Sync(dir),
		"xattr": dirfd.FileXattrs(f).Set("user.x", nil), "xattr of the directory": dirfd.DirXattrs(d).Set("user.x", nil), "xattr of a link": dirfd.EntryXattrs(d, "file").Set("user.x", nil),
		"no xattr": dirfd.FileXattrs(f).Remove("user.x"), "no xattr of the directory": dirfd.DirXattrs(d).Remove("user.x"), "no xattr of a link": dirfd.EntryXattrs(d, "file").Remove("user.x"),
	} {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if diff := cmp.Diff(before, survey(t, dir)); diff != "" {
		t.Error(diff)
	}
}
