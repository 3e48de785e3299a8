//go:build fs && linux

package volume_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/btrfs"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// kinds returns the tested drivers, with a file system for each.
func kinds() map[string]string {
	return map[string]string{"subvolume": testkit.Btrfs, "image": testkit.XFS, "sparsebundle": testkit.XFS, "pool": testkit.Ext4}
}

func driverOf(name, dir string) volume.Driver {
	const size = 96 << 20
	d, ok := volume.Named(name, volume.Place{Store: volume.StoreDir(dir, name, "store"), Size: size})
	if !ok {
		panic("no driver " + name)
	}
	return d
}

// world is a store of a volume, and the expected content of every snapshot.
type world struct {
	t      *testing.T
	dir    string
	driver volume.Driver
	store  *bands.Store
	tree   *treetest.Tree
	holds  map[bands.Version]treetest.Model
}

func newWorld(t *testing.T, driver, dir string, seed uint64) *world {
	t.Helper()
	root := filepath.Join(dir, "tree")
	w := &world{t: t, dir: dir, driver: driverOf(driver, dir), holds: map[bands.Version]treetest.Model{}}
	w.must(os.MkdirAll(root, 0o755))
	if volume.UsesPool(driver) {
		const size = 300 << 20
		w.must(volume.MakePool(t.Context(), dir, size))
	}
	store, err := bands.Create(volume.StoreDir(dir, driver, "store"))
	w.must(err)
	w.store = store
	w.must(w.driver.Create(root))
	t.Cleanup(w.close)
	w.tree = treetest.New(t, root, treetest.Seeded(seed))
	w.tree.Plant(25)
	return w
}

// close unmounts everything.
func (w *world) close() {
	_ = w.driver.Close(filepath.Join(w.dir, "tree"), true)
	if volume.UsesPool(w.driver.Name()) {
		_ = exec.Command("umount", "-l", filepath.Join(w.dir, ".pool")).Run()
		_ = os.Remove(filepath.Join(w.dir, ".pool.img"))
	}
}

func (w *world) must(errs ...error) {
	w.t.Helper()
	if err := errors.Join(errs...); err != nil {
		w.t.Fatal(err)
	}
}

func options(dir string) bands.Options {
	return bands.Options{Root: filepath.Join(dir, "tree"), Lineage: bands.PlainLineage, Floor: 1, Now: time.Now, Home: filepath.Join(dir, "home")}
}

// hold runs work with the store's lock.
func (w *world) hold(work func(h *bands.Held) error) {
	w.t.Helper()
	h, err := w.store.Hold(w.t.Context())
	w.must(err)
	w.must(work(h), h.Release())
}

func (w *world) take() bands.Version {
	w.t.Helper()
	var v bands.Version
	w.hold(func(h *bands.Held) error {
		snap, _, err := volume.Take(h, w.driver, volume.TakeOptions{Options: options(w.dir), Cause: bands.Named, Force: true})
		v = snap.Version
		return err
	})
	w.holds[v] = w.tree.Read()
	return v
}

func (w *world) restore(v bands.Version) {
	w.t.Helper()
	present := w.tree.Read()
	w.hold(func(h *bands.Held) error {
		done, err := volume.Restore(h, w.driver, v, volume.RestoreOptions{Options: options(w.dir)})
		w.holds[done.Rescue.Version] = present
		return err
	})
	w.same(fmt.Sprintf("restored %s", v), w.holds[v], w.tree.Read())
}

func (w *world) same(what string, want, got treetest.Model) {
	w.t.Helper()
	if diff := treetest.Diff(want, got); diff != "" {
		w.t.Fatalf("%s: %s", what, diff)
	}
}

// checkSnapshots checks that the store has exactly the expected snapshots, with their content.
func (w *world) checkSnapshots() {
	w.t.Helper()
	versions := w.versions()
	for _, v := range versions {
		want, known := w.holds[v]
		if !known {
			w.t.Fatalf("%s: nobody has taken it", v)
		}
		w.same(v.String(), want, w.read(v))
	}
	if len(versions) != len(w.holds) {
		w.t.Fatalf("there are %v, not the %d that were taken", versions, len(w.holds))
	}
}

// read returns the content of a snapshot, mounted with the system's tools.
func (w *world) read(v bands.Version) treetest.Model {
	w.t.Helper()
	files := w.store.VolumeDir(v)
	at := filepath.Join(w.dir, "look")
	switch w.driver.Name() {
	case "image":
		w.must(os.MkdirAll(at, 0o700), exec.Command("mount", "-o", "loop,ro,noload", files, at).Run())
	case "sparsebundle":
		band := filepath.Join(w.dir, "band")
		w.must(os.MkdirAll(at, 0o700), exec.Command("cp", filepath.Join(files, "0"), band).Run())
		_ = exec.Command("e2fsck", "-p", band).Run() // not unmounted; mount reports remaining errors
		w.must(exec.Command("mount", "-o", "loop,ro", band, at).Run())
	default:
		return treetest.Read(w.t, files)
	}
	model := treetest.Read(w.t, at)
	w.must(exec.Command("umount", at).Run())
	return model
}

// TestFSVolumeRestores restores random snapshots of a tree with random changes in between: each
// time the tree is the same, byte for byte.
func TestFSVolumeRestores(t *testing.T) {
	for driver, kind := range kinds() {
		t.Run(driver, func(t *testing.T) {
			testkit.Hdiutil(t)
			restores(t, driver, testkit.Mount(t, kind, 800))
		})
	}
}

func restores(t *testing.T, driver, dir string) {
	t.Helper()
	for seed := range uint64(6) {
		w := newWorld(t, driver, filepath.Join(dir, strconv.FormatUint(seed, 10)), seed)
		for step := range 6 {
			v := w.take()
			w.tree.Edit(10)
			if step%2 == 1 {
				w.restore(1 + bands.Version(seed+uint64(step))%v)
			}
			w.checkSnapshots()
		}
		w.hold(func(h *bands.Held) error { return retention.Delete(h, 1, 3) })
		delete(w.holds, 1)
		delete(w.holds, 3)
		w.checkSnapshots()
	}
}

// TestFSVolumeRestoreKeeps checks that a restore leaves the kept paths unchanged and restores
// everything else, and that data written to an open file afterwards is in the rescue.
func TestFSVolumeRestoreKeeps(t *testing.T) {
	dir := testkit.Mount(t, testkit.Btrfs, 300)
	w := newWorld(t, "subvolume", dir, 1)
	git := filepath.Join(dir, "tree", ".git")
	w.must(os.Mkdir(git, 0o755), os.WriteFile(filepath.Join(git, "HEAD"), []byte("old"), 0o644))
	v := w.take()
	w.must(os.WriteFile(filepath.Join(git, "HEAD"), []byte("new"), 0o644))
	open, err := os.Create(filepath.Join(dir, "tree", "open"))
	w.must(err)
	defer func() { _ = open.Close() }()
	var done volume.Restored
	w.hold(func(h *bands.Held) (err error) {
		done, err = volume.Restore(h, volume.Subvolume{}, v, volume.RestoreOptions{Options: options(dir), Keep: []string{".git"}})
		return err
	})
	if head, err := os.ReadFile(filepath.Join(git, "HEAD")); string(head) != "new" || err != nil {
		t.Errorf("HEAD is %q, %v", head, err)
	}
	if _, err := os.Lstat(open.Name()); err == nil {
		t.Error("a later file is still there")
	}
	if _, err := open.WriteString("not lost"); err != nil {
		t.Error(err)
	}
	if late, err := os.ReadFile(filepath.Join(w.store.VolumeDir(done.Rescue.Version), "open")); string(late) != "not lost" || err != nil {
		t.Errorf("the rescue has %q, %v", late, err)
	}
}

// TestFSVolumeRefuses checks which trees can't be taken, restored or made a volume.
func TestFSVolumeRefuses(t *testing.T) {
	dir := testkit.Mount(t, testkit.Btrfs, 300)
	w := newWorld(t, "subvolume", dir, 2)
	v := w.take()
	root := filepath.Join(dir, "tree")
	refused := func(what string, want error) {
		t.Helper()
		w.hold(func(h *bands.Held) error {
			_, _, err := volume.Take(h, volume.Subvolume{}, volume.TakeOptions{Options: options(dir), Force: true})
			_, err2 := volume.Restore(h, volume.Subvolume{}, v, volume.RestoreOptions{Options: options(dir)})
			if !errors.Is(err, want) || !errors.Is(err2, want) {
				t.Errorf("%s: %v, %v", what, err, err2)
			}
			return nil
		})
		w.checkSnapshots()
	}
	nested := filepath.Join(root, "nested")
	w.must(btrfs.Create(nested))
	refused("a subvolume in it", volume.ErrInUse)
	w.must(btrfs.Remove(nested))

	mounted := filepath.Join(root, "mnt")
	w.must(os.Mkdir(mounted, 0o755))
	testkit.Bind(t, t.TempDir(), mounted)
	refused("something mounted in it", volume.ErrInUse)
	w.must(exec.Command("umount", mounted).Run())

	aside := root + ".aside"
	w.must(os.Rename(root, aside), os.Mkdir(root, 0o755))
	refused("another folder", volume.ErrNotVolume)
	w.must(os.Remove(root), os.Rename(aside, root))

	full := filepath.Join(dir, "full")
	w.must(os.Mkdir(full, 0o755), os.WriteFile(filepath.Join(full, "x"), nil, 0o644))
	if err := (volume.Subvolume{}).Create(full); !errors.Is(err, volume.ErrNotEmpty) {
		t.Errorf("a folder with files: %v", err)
	}
}

// TestFSVolumeMissing checks what is reported where the driver doesn't work, and that the probe
// leaves nothing behind.
func TestFSVolumeMissing(t *testing.T) {
	one, two := testkit.Mount(t, testkit.Btrfs, 300), testkit.Mount(t, testkit.Btrfs, 300)
	other := testkit.Mount(t, testkit.Ext4, 16)
	for _, c := range []struct {
		root, dir string
		works     bool
	}{
		{filepath.Join(one, "a", "b"), filepath.Join(one, "c", "d"), true},
		{filepath.Join(one, "a"), filepath.Join(two, "c"), false},
		{filepath.Join(other, "a"), filepath.Join(one, "c"), false},
		{filepath.Join(one, "a"), filepath.Join(other, "c"), false},
	} {
		if err := (volume.Subvolume{}).Missing(c.root, c.dir); (err == nil) != c.works {
			t.Errorf("%s and %s: %v", c.root, c.dir, err)
		}
	}
	// A probe removes the leftovers of a killed one that are over a minute old.
	left := filepath.Join(one, ".entire-probe-1")
	long := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Mkdir(left, 0o700), btrfs.Create(filepath.Join(left, "live")), os.Chtimes(left, long, long),
		volume.Subvolume{}.Missing(filepath.Join(one, "a"), filepath.Join(one, "c"))); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{one, two, other} {
		entries, err := os.ReadDir(dir)
		if names := slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == "lost+found" }); len(names) > 0 || err != nil {
			t.Errorf("%s has %v, %v", dir, names, err)
		}
	}
}

// TestFSVolumeOfUser checks that an ordinary user, whom the file system doesn't let remove a
// subvolume at once, can remove one with folders that aren't writable.
func TestFSVolumeOfUser(t *testing.T) {
	dir := testkit.Mount(t, testkit.Btrfs, 300)
	const user = 65534
	if err := os.Chown(dir, user, user); err != nil {
		t.Fatal(err)
	}
	for above := dir; above != filepath.Clean(os.TempDir()); above = filepath.Dir(above) {
		if err := os.Chmod(above, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "test")
	if out, err := exec.Command("cp", exe, program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(program, "-test.run=^TestFSVolumeUserChild$")
	cmd.Dir, cmd.Env = dir, []string{userVar + "=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

const userVar = "VOLUME_USER"

// TestFSVolumeUserChild runs as the user.
func TestFSVolumeUserChild(t *testing.T) {
	dir := os.Getenv(userVar)
	if dir == "" {
		t.Skip("there is nothing to do")
	}
	d := volume.Subvolume{}
	root, taken, clone := filepath.Join(dir, "root"), filepath.Join(dir, "taken"), filepath.Join(dir, "clone")
	closed := filepath.Join(root, "closed")
	err := errors.Join(d.Missing(root, dir), os.Mkdir(root, 0o755), d.Create(root), os.Mkdir(closed, 0o755),
		os.WriteFile(filepath.Join(closed, "file"), nil, 0o400), os.Chmod(closed, 0o500),
		d.Snapshot(root, taken), d.Clone(taken, clone), d.Exchange(root, clone), d.Seal(clone), d.Remove(clone), d.Remove(taken))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(closed, "file")); err != nil {
		t.Error(err)
	}
}

// TestFSVolumeChanged checks that Changed returns the paths that differ, and no others.
func TestFSVolumeChanged(t *testing.T) {
	dir := testkit.Mount(t, testkit.Btrfs, 300)
	w := newWorld(t, "subvolume", dir, 3)
	for _, name := range []string{"same", "rewritten", "gone"} {
		w.must(os.WriteFile(filepath.Join(dir, "tree", name), []byte(name), 0o644))
	}
	v := w.take()
	root := filepath.Join(dir, "tree")
	w.must(os.WriteFile(filepath.Join(root, "rewritten"), []byte("REWRITTEN"), 0o644),
		os.Remove(filepath.Join(root, "gone")), os.WriteFile(filepath.Join(root, "new"), nil, 0o644))
	got, err := volume.Changed(context.Background(), w.view(v), volume.Live(volume.Subvolume{}, root))
	w.must(err)
	if !slices.Equal(got, []string{"gone", "new", "rewritten"}) {
		t.Errorf("changed: %q", got)
	}
}

// TestFSVolumeTouched checks that the changes recorded by Btrfs lead to the same differences as
// reading every file, between any two snapshots and between each of them and the volume, across
// restores.
func TestFSVolumeTouched(t *testing.T) {
	dir := testkit.Mount(t, testkit.Btrfs, 600)
	ctx := context.Background()
	for seed := range uint64(4) {
		w := newWorld(t, "subvolume", filepath.Join(dir, strconv.FormatUint(seed, 10)), seed)
		for step := range 5 {
			v := w.take()
			w.tree.Edit(10)
			if step%2 == 1 {
				w.restore(1 + bands.Version(seed+uint64(step))%v)
				w.tree.Edit(2)
			}
		}
		sides := []string{filepath.Join(w.dir, "tree")}
		for _, v := range w.versions() {
			sides = append(sides, w.store.VolumeDir(v))
		}
		found := 0
		for _, a := range sides {
			for _, b := range sides {
				if _, known, err := (volume.Subvolume{}).Touched(a, b); !known || err != nil {
					t.Errorf("seed %d: %s and %s: %v, %v", seed, a, b, known, err)
				}
				want, err := volume.Changed(ctx, volume.Live(byWalk{}, a), volume.Live(byWalk{}, b))
				w.must(err)
				got, err := volume.Changed(ctx, volume.Live(volume.Subvolume{}, a), volume.Live(volume.Subvolume{}, b))
				w.must(err)
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d: %s and %s: %q, want %q", seed, a, b, got, want)
				}
				found += len(want)
			}
		}
		if found == 0 {
			t.Error("nothing differs")
		}
	}
}

// byWalk is a Btrfs driver without a record of changes.
type byWalk struct{ volume.Subvolume }

func (byWalk) Touched(_, _ string) (capture.TouchedPaths, bool, error) {
	return capture.TouchedPaths{}, false, nil
}

func (w *world) view(v bands.Version) volume.View {
	w.t.Helper()
	snap, err := w.store.Snapshot(v)
	w.must(err)
	view, err := volume.Open(w.store, snap)
	w.must(err)
	return view
}

func (w *world) versions() []bands.Version {
	w.t.Helper()
	versions, err := w.store.Versions()
	w.must(err)
	return versions
}

// TestFSVolumeReadOnlyHost checks that nothing changes while the file system of a volume is
// read-only, as after a disk error, and that everything works once it is writable again.
func TestFSVolumeReadOnlyHost(t *testing.T) {
	dir := testkit.Mount(t, testkit.Btrfs, 400)
	w := newWorld(t, "subvolume", filepath.Join(dir, "w"), 9)
	v := w.take()
	w.tree.Edit(5)
	present := w.tree.Read()
	remount := func(mode string) {
		t.Helper()
		if out, err := exec.Command("mount", "-o", "remount,"+mode, dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	remount("ro")
	if h, err := w.store.Hold(t.Context()); err == nil {
		_, _, taken := volume.Take(h, w.driver, volume.TakeOptions{Options: options(w.dir), Force: true})
		_, restored := volume.Restore(h, w.driver, v, volume.RestoreOptions{Options: options(w.dir)})
		if taken == nil || restored == nil {
			t.Errorf("taken: %v, restored: %v", taken, restored)
		}
		w.must(h.Release())
	}
	w.same("read-only", present, w.tree.Read())
	remount("rw")
	w.same("written to again", present, w.tree.Read())
	w.hold(func(h *bands.Held) error {
		_, _, err := volume.Recover(h, w.driver)
		return errors.Join(err, h.Sweep())
	})
	w.checkSnapshots()
	w.checkNoLeftovers()
	w.restore(v)
	w.checkSnapshots()
	w.checkNoLeftovers()
}
