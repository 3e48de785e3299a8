//go:build linux

package bands_test

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// A write through a mapping to a page that was already dirty when the last snapshot read it is
// detected by the next one.
func TestTakeDetectsWritesToMappedPages(t *testing.T) {
	t.Parallel()
	r := newRigAt(t, testkit.DiskDir(t))
	r.plant()
	space, err := disk.SpaceAt(r.root)
	r.must(err)
	if !slices.Contains([]string{"ext4", "xfs", "btrfs"}, space.Type) {
		t.Skipf("%s doesn't notice writes to mapped pages", space.Type)
	}
	for name, size := range map[string]int{"small": 4096, "large": 5 << 20} {
		r.write(name, string(make([]byte, size)))
		f, err := os.OpenFile(r.path(name), os.O_RDWR, 0)
		r.must(err)
		m, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		r.must(err)
		m[0] = 'a'
		r.awaitTrusted(name)
		before := r.auto()
		m[0] = 'b'
		rescue := r.takeAndCheck()
		if rescue.Unchanged {
			t.Fatalf("%s: the write is not seen", name)
		}
		r.restore(before.Snapshot.Version, restore.Scope{})
		r.restore(rescue.Snapshot.Version, restore.Scope{})
		data, err := os.ReadFile(r.path(name))
		if err != nil || data[0] != 'b' {
			t.Errorf("%s: %q, %v", name, data[0], err)
		}
		if err := unix.Munmap(m); err != nil {
			t.Error(err)
		}
		r.must(f.Close())
	}
}

// awaitTrusted takes snapshots until the stat cache trusts its entry of the file.
func (r *rig) awaitTrusted(name string) {
	r.t.Helper()
	for range 1000 {
		r.auto()
		lines, _, ok := statLines(r.store, r.opts.Lineage)
		if !ok {
			r.t.Fatal("no stat cache")
		}
		if lines[name].Ino != 0 {
			return
		}
	}
	r.t.Fatal("the stat cache never trusts " + name)
}
