//go:build fs && linux

package bands_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// fsKinds returns the tested file systems and how a store links its bands on each.
func fsKinds() map[string]disk.Linking {
	return map[string]disk.Linking{
		testkit.Ext4: disk.Hardlink, testkit.XFS: disk.Reflink, testkit.Btrfs: disk.Reflink,
		testkit.VFAT: disk.Copy, testkit.Tmpfs: disk.Hardlink,
	}
}

// TestFSStories checks the property of restores on each file system, with the kinds of entries
// that it supports.
func TestFSStories(t *testing.T) {
	t.Parallel()
	for kind, linking := range fsKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := testkit.Mount(t, kind, 400)
			for seed := range 12 {
				w := newWorld(t, t, filepath.Join(dir, strconv.Itoa(seed)), treetest.Seeded(uint64(seed)))
				if got := w.store.Linking(); got != linking {
					t.Fatalf("linked by %s, want %s", got, linking)
				}
				w.story(seed%3 == 0)
				w.delete(w.versions()[0])
				w.check()
				w.remove()
				if t.Failed() {
					t.Fatalf("with seed %d", seed)
				}
			}
		})
	}
}

// TestFSStoreElsewhere has the tree and the store on different file systems.
func TestFSStoreElsewhere(t *testing.T) {
	t.Parallel()
	for _, kinds := range [][2]string{
		{testkit.Ext4, testkit.VFAT}, {testkit.XFS, testkit.Btrfs}, {testkit.Btrfs, testkit.Ext4}, {testkit.VFAT, testkit.XFS},
	} {
		t.Run(kinds[0]+" in "+kinds[1], func(t *testing.T) {
			t.Parallel()
			one, two := testkit.Mount(t, kinds[0], 400), testkit.Mount(t, kinds[1], 400)
			w := newWorld(t, t, filepath.Join(one, "w"), treetest.Seeded(5))
			var err error
			w.store, err = bands.Create(filepath.Join(two, "store"))
			w.must(err)
			w.story(true)
		})
	}
}

// TestFSSharesBlocks checks that with reflinks, a large file and the bands of many snapshots
// take space only once.
func TestFSSharesBlocks(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for _, kind := range []string{testkit.XFS, testkit.Btrfs} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := testkit.Mount(t, kind, 600)
			w := newWorld(t, t, filepath.Join(dir, "w"), treetest.Seeded(1))
			data := make([]byte, 100*mb)
			for i := range data {
				data[i] = byte(i>>12) ^ byte(i*7)
			}
			w.must(os.WriteFile(filepath.Join(w.tree.Root, "large"), data, 0o644))
			before := used(t, dir)
			for i := range 5 {
				w.must(os.WriteFile(filepath.Join(w.tree.Root, "small"), []byte{byte(i)}, 0o644))
				w.take(capture.TakeOptions{})
			}
			if grown := used(t, dir) - before; grown > 20*mb {
				t.Errorf("snapshots of a file of 100 MB take %d MB", grown/mb)
			}
			w.must(os.Remove(filepath.Join(w.tree.Root, "large")))
			w.restore(1)
			if grown := used(t, dir) - before; grown > 20*mb {
				t.Errorf("with the file restored they take %d MB", grown/mb)
			}
		})
	}
}

// TestFSLargeFileThatChanges checks that a large file with small changes keeps its history under
// a cap, whether the file system clones or not, takes space only for the changes, and is
// restored exactly.
func TestFSLargeFileThatChanges(t *testing.T) {
	t.Parallel()
	const mb, size, rounds = 1 << 20, 60 << 20, 15
	for _, kind := range []string{testkit.Ext4, testkit.XFS, testkit.Btrfs} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := testkit.Mount(t, kind, 500)
			w := newWorld(t, t, filepath.Join(dir, "w"), treetest.Seeded(1))
			w.opts.Cap = size * 14 / 3
			large := filepath.Join(w.tree.Root, "large")
			w.must(os.WriteFile(large, []byte(noise(size)), 0o644))
			var before int64
			models := map[bands.Version]treetest.Model{}
			for i := range rounds {
				f, err := os.OpenFile(large, os.O_WRONLY, 0)
				w.must(err)
				_, err = f.WriteAt([]byte{byte(i + 1)}, int64(i)*3*mb+1000)
				w.must(errors.Join(err, f.Close()))
				want := w.tree.Read()
				v := w.take(capture.TakeOptions{Cause: bands.Auto}).Snapshot.Version
				models[v] = want
				w.hold(func(h *bands.Held) error {
					_, err := retention.MaybePrune(t.Context(), h, retention.Policy{Now: w.opts.Now(), Keep: 100, Cap: w.opts.Cap})
					return err
				})
				if i == 0 {
					before = used(t, dir)
				}
			}
			if grown := used(t, dir) - before; grown > 40*mb {
				t.Errorf("%d changes of a byte took %d MB", rounds-1, grown/mb)
			}
			if got := w.versions(); len(got) != rounds {
				t.Fatalf("of %d snapshots %v are left", rounds, got)
			}
			for _, v := range []bands.Version{1, 8, rounds} {
				w.restore(v)
				if diff := treetest.Diff(models[v], w.tree.Read()); diff != "" {
					t.Errorf("%s: %s", v, diff)
				}
			}
			damage, err := verify.Run(t.Context(), w.store, 0, nil)
			if err != nil || !damage.OK() {
				t.Errorf("%+v, %v", damage, err)
			}
			// A file with entirely different content is cloned as a whole again.
			w.must(os.WriteFile(large, []byte(noise(size + 5)[5:]), 0o644))
			want := w.tree.Read()
			v := w.take(capture.TakeOptions{Cause: bands.Auto, Force: true}).Snapshot.Version
			w.restore(1)
			w.restore(v)
			if diff := treetest.Diff(want, w.tree.Read()); diff != "" {
				t.Errorf("%s: %s", v, diff)
			}
		})
	}
}

// used returns the number of bytes in use on a file system.
func used(t *testing.T, dir string) int64 {
	t.Helper()
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		t.Fatal(err)
	}
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Blocks-st.Bfree) * st.Bsize
}

// TestFSMountInside checks that a file system mounted in the tree is neither read nor changed.
func TestFSMountInside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t, t.TempDir(), treetest.Seeded(3))
	t.Cleanup(func() { treetest.Loosen(w.dir) })
	w.tree.Plain = true
	w.tree.Plant(15)
	mounted := filepath.Join(w.tree.Root, "mounted")
	testkit.MountAt(t, testkit.Tmpfs, 16, mounted)
	inside := filepath.Join(mounted, "inside")
	w.must(os.WriteFile(inside, []byte("of another file system"), 0o644))
	w.mountedStory(t, inside)
}

// TestFSBindMountInside checks the same for bind mounts of the tree's own file system, on a
// directory and on a file that a snapshot holds.
func TestFSBindMountInside(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t, t.TempDir(), treetest.Seeded(3))
	t.Cleanup(func() { treetest.Loosen(w.dir) })
	w.tree.Plain = true
	w.tree.Plant(15)
	elsewhere := t.TempDir()
	inside := filepath.Join(elsewhere, "inside")
	mounted, file := filepath.Join(w.tree.Root, "mounted"), filepath.Join(w.tree.Root, "mounted-file")
	w.must(os.WriteFile(inside, []byte("of the same file system"), 0o644))
	w.must(os.Mkdir(mounted, 0o755))
	w.must(os.WriteFile(filepath.Join(mounted, "covered"), []byte("covered"), 0o644))
	w.must(os.WriteFile(file, []byte("covered"), 0o644))
	before := w.take(capture.TakeOptions{}).Snapshot
	testkit.Bind(t, elsewhere, mounted)
	testkit.Bind(t, inside, file)
	w.hold(func(h *bands.Held) error {
		done, err := restore.Run(t.Context(), h, before.Version, w.restoreOptions())
		if !done.Plan.Empty() || !slices.Equal(done.Plan.Unknown, []string{"mounted", "mounted-file"}) {
			t.Errorf("steps %q, unknown %q", steps(done.Plan), done.Plan.Unknown)
		}
		return err
	})
	again := w.take(capture.TakeOptions{SkipUnchanged: true})
	if !again.Unchanged || again.Snapshot.Totals.Unknown != 2 {
		t.Errorf("unchanged %v, %+v", again.Unchanged, again.Snapshot.Totals)
	}
	for _, path := range []string{inside, file} {
		if data, err := os.ReadFile(path); err != nil || string(data) != "of the same file system" {
			t.Errorf("%s has %q, %v", path, data, err)
		}
	}
}

func (w *world) mountedStory(t *testing.T, inside string) {
	t.Helper()
	root := w.tree.Root
	plain := func() treetest.Model { return treetest.Read(t, root, "mounted") }
	one := plain()
	v := w.take(capture.TakeOptions{}).Snapshot
	if v.Totals.Unknown != 1 {
		t.Errorf("%d paths are unknown, want 1", v.Totals.Unknown)
	}
	w.must(os.WriteFile(filepath.Join(root, "new"), []byte("new"), 0o644))
	w.must(os.WriteFile(inside, []byte("changed"), 0o644))
	w.hold(func(h *bands.Held) error {
		_, err := restore.Run(t.Context(), h, v.Version, w.restoreOptions())
		return err
	})
	if diff := treetest.Diff(one, plain()); diff != "" {
		t.Error(diff)
	}
	if data, err := os.ReadFile(inside); err != nil || string(data) != "changed" {
		t.Errorf("the other file system has %q, %v", data, err)
	}
}
