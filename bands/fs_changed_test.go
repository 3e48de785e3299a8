//go:build fs && linux

package bands_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/btrfs"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// TestFSChangedStories checks the property of restores with Btrfs queried for changes before
// each walk, whatever the tree's size.
func TestFSChangedStories(t *testing.T) {
	t.Parallel()
	dir := testkit.Mount(t, testkit.Btrfs, 600)
	for seed := range 30 {
		w := newWorld(t, t, filepath.Join(dir, strconv.Itoa(seed)), treetest.Seeded(uint64(seed)))
		w.opts.AskFrom = 1
		w.story(seed%3 == 0)
		if _, err := os.Stat(w.store.Path(bands.ChangedPrefix + bands.PlainLineage)); err != nil {
			t.Errorf("no record: %v", err)
		}
		w.check()
		w.remove()
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

// changedWorld is a tree on Btrfs whose snapshots are compared with full walks.
type changedWorld struct {
	*world

	root string
}

func newChangedWorld(t *testing.T) *changedWorld {
	t.Helper()
	w := &changedWorld{world: newWorld(t, t, filepath.Join(testkit.Mount(t, testkit.Btrfs, 400), "w"), treetest.Seeded(1))}
	w.opts.AskFrom = 1
	w.root = w.opts.Root
	for i := range 30 {
		w.must(os.MkdirAll(w.at(fmt.Sprintf("d%d/e", i)), 0o755))
		for _, name := range []string{"a", "b", "e/c"} {
			w.write(fmt.Sprintf("d%d/%s", i, name), name)
		}
	}
	return w
}

func (w *changedWorld) at(path string) string { return filepath.Join(w.root, path) }

func (w *changedWorld) write(path, text string) {
	w.tb.Helper()
	w.must(os.WriteFile(w.at(path), []byte(text), 0o644))
}

// same takes a snapshot and compares it with one of another lineage, which walks the whole tree.
func (w *changedWorld) same(what string) {
	w.tb.Helper()
	var got, want capture.Taken
	w.hold(func(h *bands.Held) (err error) {
		got, err = capture.Take(w.ctx.Context(), h, capture.TakeOptions{Options: w.opts, Cause: bands.Auto})
		return err
	})
	all := w.opts
	all.Lineage, all.AskFrom = "aaaaaa", 1<<40
	w.must(os.RemoveAll(w.store.Path(bands.StatPrefix + all.Lineage)))
	w.hold(func(h *bands.Held) (err error) {
		want, err = capture.Take(w.ctx.Context(), h, capture.TakeOptions{Options: all, Cause: bands.Auto})
		return err
	})
	if got.Snapshot.Tree.Hash != want.Snapshot.Tree.Hash {
		w.tb.Fatalf("%s: the tree is %s, want %s", what, got.Snapshot.Tree.Hash, want.Snapshot.Tree.Hash)
	}
}

// TestFSChanged makes each kind of change between two snapshots.
func TestFSChanged(t *testing.T) {
	t.Parallel()
	w := newChangedWorld(t)
	w.same("first")
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"nothing", func() error { return nil }},
		{"a file rewritten", func() error { return os.WriteFile(w.at("d1/a"), []byte("A"), 0o644) }},
		{"the same length and time", func() error {
			return keepingTime(w.at("d1/b"), func() error { return os.WriteFile(w.at("d1/b"), []byte("B"), 0o644) })
		}},
		{"a file removed", func() error { return os.Remove(w.at("d2/a")) }},
		{"a file made", func() error { return os.WriteFile(w.at("d2/e/new"), []byte("n"), 0o644) }},
		{"a file renamed", func() error { return os.Rename(w.at("d3/a"), w.at("d3/z")) }},
		{"a file moved over another", func() error { return os.Rename(w.at("d4/a"), w.at("d5/b")) }},
		{"a folder moved", func() error { return os.Rename(w.at("d6"), w.at("d7/d6")) }},
		{"a file in the moved folder", func() error { return os.WriteFile(w.at("d7/d6/e/c"), []byte("C"), 0o644) }},
		{"a folder exchanged", func() error {
			return unix.Renameat2(unix.AT_FDCWD, w.at("d8"), unix.AT_FDCWD, w.at("d9/e"), unix.RENAME_EXCHANGE)
		}},
		{"a mode", func() error { return os.Chmod(w.at("d10/a"), 0o755) }},
		{"a folder's mode", func() error { return os.Chmod(w.at("d10/e"), 0o700) }},
		{"an attribute", func() error { return unix.Setxattr(w.at("d11/a"), "user.x", []byte("1"), 0) }},
		{"a hard link", func() error { return os.Link(w.at("d12/a"), w.at("d13/link")) }},
		{"through a hard link", func() error { return os.WriteFile(w.at("d13/link"), []byte("linked"), 0o644) }},
		{"through a mapping", func() error { return writeMapped(w.at("d14/a")) }},
		{"a file in a folder's place", func() error {
			if err := os.RemoveAll(w.at("d15")); err != nil {
				return err
			}
			return os.WriteFile(w.at("d15"), []byte("file"), 0o644)
		}},
		{"another file system", func() error { return exec.Command("mount", "-t", "tmpfs", "tmpfs", w.at("d16/e")).Run() }},
		{"a file there", func() error { return os.WriteFile(w.at("d16/e/f"), nil, 0o644) }},
		{"unmounted", func() error { return syscall.Unmount(w.at("d16/e"), 0) }},
		{"a file mounted", func() error {
			return unix.Mount(w.at("d17/b"), w.at("d17/a"), "", unix.MS_BIND, "")
		}},
		{"a file unmounted", func() error { return syscall.Unmount(w.at("d17/a"), 0) }},
		{"a subvolume", func() error { return btrfs.Create(w.at("d18/sub")) }},
		{"a file in it", func() error { return os.WriteFile(w.at("d18/sub/f"), nil, 0o644) }},
		{"the subvolume removed", func() error { return btrfs.Remove(w.at("d18/sub")) }},
		{"the root's mode", func() error { return os.Chmod(w.root, 0o700) }},
		{"removed and still open", func() error {
			f, err := os.Open(w.at("d19"))
			if err != nil {
				return err
			}
			t.Cleanup(func() { _ = f.Close() })
			return os.RemoveAll(w.at("d19"))
		}},
		{"a name that isn't text", func() error { return os.WriteFile(w.at("d20/\xff\xfe"), []byte("x"), 0o644) }},
	} {
		w.must(step.do())
		w.same(step.what)
	}
}

// keepingTime calls do and restores the modification time of the file.
func keepingTime(path string, do func() error) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return os.Chtimes(path, info.ModTime(), info.ModTime())
}

// writeMapped changes the first byte of a file through a memory mapping.
func writeMapped(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	data, err := unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	data[0] = '!'
	return unix.Munmap(data)
}

// TestFSChangedUsed checks that files that Btrfs doesn't report as changed aren't read, and that
// a record of another subvolume, of another stat cache, or a damaged one is not used.
func TestFSChangedUsed(t *testing.T) {
	t.Parallel()
	w := newChangedWorld(t)
	w.same("first")
	path := w.store.Path(bands.ChangedPrefix + bands.PlainLineage)
	edit := func(key string, change func(old any) any) {
		t.Helper()
		data, err := os.ReadFile(path)
		w.must(err)
		var r map[string]any
		w.must(json.Unmarshal(data, &r))
		r[key] = change(r[key])
		data, err = json.Marshal(r)
		w.must(err)
		w.must(os.WriteFile(path, data, 0o600))
	}
	take := func() capture.Taken {
		t.Helper()
		var taken capture.Taken
		w.hold(func(h *bands.Held) (err error) {
			taken, err = capture.Take(w.ctx.Context(), h, capture.TakeOptions{Options: w.opts, Cause: bands.Auto, SkipUnchanged: true})
			return err
		})
		return taken
	}
	take() // no entry is unsure any more
	w.write("d1/a", "CHANGED")
	now, err := btrfs.Commit(w.root)
	w.must(err)
	edit("transaction", func(any) any { return now })
	if taken := take(); !taken.Unchanged {
		t.Error("the record wasn't used")
	}
	for _, c := range []struct {
		key    string
		change func(any) any
	}{
		{"subvolume", func(any) any { return "00" }},
		{"inode", func(any) any { return 1 }},
		{"sum", func(any) any { return 1 }},
		{"end", func(any) any { return 200 }},
		{"format", func(any) any { return 2 }},
		{"format", func(any) any { return "no number" }},
	} {
		edit("transaction", func(any) any { return now })
		edit(c.key, c.change)
		taken := take()
		if taken.Unchanged {
			t.Errorf("another %s: the record was used", c.key)
		}
		w.write("d1/a", "CHANGED by "+c.key)
		if now, err = btrfs.Commit(w.root); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFSChangedMoving takes snapshots while files are written, moved and removed. The next
// snapshot after that has everything, whatever the former ones missed.
func TestFSChangedMoving(t *testing.T) {
	t.Parallel()
	w := newChangedWorld(t)
	for round := range uint64(20) {
		if round == 10 { // take the first snapshot of a lineage while files move, too
			w.must(os.Remove(w.store.Path(bands.StatPrefix + bands.PlainLineage)))
		}
		var stop atomic.Bool
		var wait sync.WaitGroup
		for worker := range uint64(2) {
			wait.Go(func() { w.move(rand.New(rand.NewPCG(round, worker)), &stop) })
		}
		for range 4 {
			w.hold(func(h *bands.Held) error {
				_, err := capture.Take(w.ctx.Context(), h, capture.TakeOptions{Options: w.opts, Cause: bands.Auto})
				return err
			})
		}
		stop.Store(true)
		wait.Wait()
		w.same(fmt.Sprintf("round %d", round))
	}
}

// move changes the tree at random until stop is set. Another worker may move the files: errors
// are ignored.
func (w *changedWorld) move(r *rand.Rand, stop *atomic.Bool) {
	dir := func() string { return []string{"d%d", "d%d/e"}[r.IntN(2)] }
	path := func() string { return w.at(fmt.Sprintf(dir(), r.IntN(30)) + "/" + []string{"a", "b", "c"}[r.IntN(3)]) }
	for !stop.Load() {
		switch r.IntN(6) {
		case 0, 1:
			_ = os.WriteFile(path(), []byte{byte('a' + r.IntN(26))}, 0o644)
		case 2, 3:
			_ = os.Rename(path(), path())
		case 4:
			_ = os.Remove(path())
		case 5:
			a, b := w.at(fmt.Sprintf("d%d/e", r.IntN(30))), w.at(fmt.Sprintf("d%d/e", r.IntN(30)))
			_ = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
		}
	}
}
