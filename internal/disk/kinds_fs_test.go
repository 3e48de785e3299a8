//go:build fs && linux

package disk_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// TestFSContent checks each kind of file system for its known abilities.
func TestFSContent(t *testing.T) {
	for kind, has := range map[string]abilities{
		testkit.Ext4:  {disk.Hardlink, true, true, true},
		testkit.Tmpfs: {disk.Hardlink, true, true, true},
		testkit.XFS:   {disk.Reflink, true, true, true},
		testkit.Btrfs: {disk.Reflink, true, true, true},
		testkit.VFAT:  {linking: disk.Copy},
		testkit.ExFAT: {linking: disk.Copy},
	} {
		t.Run(kind, func(t *testing.T) {
			dir := testkit.Mount(t, kind, 64)
			s, err := disk.SpaceAt(dir)
			must(t, err)
			if s.Network || s.Type != kind && s.Type != "fuseblk" || s.Total < 16<<20 || s.Free > s.Total {
				t.Errorf("it is %+v", s)
			}
			exercise(t, dir, has)
		})
	}
}

// TestFSManyLinks checks that a file with the maximum number of links is copied.
func TestFSManyLinks(t *testing.T) {
	dir := testkit.Mount(t, testkit.Ext4, 64)
	src := filepath.Join(dir, "src")
	must(t, os.WriteFile(src, []byte("text"), 0o600))
	for i := 1; i < 65000; i++ {
		must(t, os.Link(src, filepath.Join(dir, strconv.Itoa(i))))
	}
	last := filepath.Join(dir, "last")
	must(t, disk.LinkOrCopy(disk.Hardlink, src, last))
	a, errA := os.Stat(src)
	b, errB := os.Stat(last)
	if must(t, errA, errB); os.SameFile(a, b) || b.Size() != 4 {
		t.Error("it is one more name")
	}
}

// TestFSCountTreeSkipsMounts checks that the contents of a mount point are not counted.
func TestFSCountTreeSkipsMounts(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	testkit.MountAt(t, testkit.Tmpfs, 0, filepath.Join(dir, "sub", "mount"))
	must(t, os.WriteFile(filepath.Join(dir, "sub", "mount", "file"), nil, 0o600))
	if n, err := treetest.CountTree(dir, 2); err != nil || n != 2 {
		t.Errorf("%d entries, %v", n, err)
	}
}

// TestFSSystemXattrs checks that a file's attributes include those for access control, but not the
// labels of security modules.
func TestFSSystemXattrs(t *testing.T) {
	for _, kind := range []string{testkit.Ext4, testkit.XFS, testkit.Btrfs} {
		t.Run(kind, func(t *testing.T) {
			dir := testkit.Mount(t, kind, 64)
			f, err := os.Create(filepath.Join(dir, "file"))
			must(t, err)
			defer func() { _ = f.Close() }()
			want := []dirfd.Xattr{
				{Name: "security.capability", Value: []byte("\x01\x00\x00\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")},
				{Name: "system.posix_acl_access", Value: []byte("\x02\x00\x00\x00" +
					"\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x04\x00\x07\x00\x00\x00" + "\x04\x00\x04\x00\xff\xff\xff\xff" +
					"\x10\x00\x04\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff")},
				{Name: "trusted.mine", Value: []byte("1")},
				{Name: "user.mine", Value: []byte("2")},
			}
			for _, x := range want {
				must(t, dirfd.FileXattrs(f).Set(x.Name, x.Value))
			}
			must(t, dirfd.FileXattrs(f).Set("security.selinux", []byte("label")))
			got, err := dirfd.FileXattrs(f).List()
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
			d := root(t, dir)
			link := dirfd.EntryXattrs(d, "link")
			must(t, d.Symlink("file", "link"), link.Set("trusted.link", []byte("3")))
			got, err = link.List()
			if diff := cmp.Diff([]dirfd.Xattr{{Name: "trusted.link", Value: []byte("3")}}, got); err != nil || diff != "" {
				t.Errorf("a link: %v %s", err, diff)
			}
			must(t, link.Remove("trusted.link"))
			if got, err = link.List(); err != nil || len(got) > 0 {
				t.Errorf("a link's attributes are still there: %v, %v", got, err)
			}
		})
	}
}
