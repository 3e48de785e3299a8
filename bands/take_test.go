//go:build linux || darwin

package bands_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
)

func TestTakeDetectsChanges(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(r *rig){
		"nothing": func(*rig) {},
		"same size, time put back": func(r *rig) {
			info, err := os.Stat(r.path("dir/three"))
			r.must(err)
			r.write("dir/three", "TEXT of dir/three")
			r.must(os.Chtimes(r.path("dir/three"), info.ModTime(), info.ModTime()))
		},
		"replaced by a file of the same size and time": func(r *rig) {
			info, err := os.Stat(r.path("one"))
			r.must(err)
			r.write("new", "TEXT of one")
			r.must(errors.Join(os.Chtimes(r.path("new"), info.ModTime(), info.ModTime()), os.Rename(r.path("new"), r.path("one"))))
		},
		"two files change places": func(r *rig) {
			r.must(errors.Join(os.Rename(r.path("one"), r.path("new")), os.Rename(r.path("two"), r.path("one")),
				os.Rename(r.path("new"), r.path("two"))))
		},
		"mode":                func(r *rig) { r.must(os.Chmod(r.path("dir/deep/five"), 0o600)) },
		"mode of a directory": func(r *rig) { r.must(os.Chmod(r.path("dir/deep"), 0o700)) },
		"time of a file":      func(r *rig) { r.must(os.Chtimes(r.path("two"), time.Unix(1, 2), time.Unix(1, 2))) },
		"attribute": func(r *rig) {
			if err := unix.Lsetxattr(r.path("two"), "user.some", []byte("value"), 0); err != nil {
				r.t.Skip(err)
			}
		},
		"second name elsewhere": func(r *rig) { r.must(os.Link(r.path("one"), r.path("other/one"))) },
		"new file, time of the directory put back": func(r *rig) {
			info, err := os.Stat(r.path("dir"))
			r.must(err)
			r.write("dir/new", "new")
			r.must(os.Chtimes(r.path("dir"), info.ModTime(), info.ModTime()))
		},
		"directory made anew": func(r *rig) {
			r.must(os.RemoveAll(r.path("dir")))
			r.write("dir/three", "another three")
			r.write("dir/deep/five", "text of dir/deep/five")
		},
		"directory under another name": func(r *rig) { r.must(os.Rename(r.path("dir"), r.path("moved"))) },
		"directory into another":       func(r *rig) { r.must(os.Rename(r.path("dir"), r.path("other/dir"))) },
		"directories change places": func(r *rig) {
			r.must(errors.Join(os.Rename(r.path("dir"), r.path("x")), os.Rename(r.path("other"), r.path("dir")), os.Rename(r.path("x"), r.path("other"))))
		},
		"file becomes directory": func(r *rig) { r.must(os.Remove(r.path("one"))); r.write("one/file", "x") },
		"directory becomes file": func(r *rig) { r.must(os.RemoveAll(r.path("dir"))); r.write("dir", "x") },
		"directory becomes symlink": func(r *rig) {
			r.must(errors.Join(os.RemoveAll(r.path("dir")), os.Symlink("other", r.path("dir"))))
		},
		"symlink points elsewhere": func(r *rig) {
			r.must(errors.Join(os.Remove(r.path("link")), os.Symlink("two", r.path("link"))))
		},
		"everything goes": func(r *rig) {
			for _, name := range []string{"one", "two", "dir", "other", "link", "empty"} {
				r.must(os.RemoveAll(r.path(name)))
			}
		},
		"holes":      func(r *rig) { r.must(os.Truncate(r.path("one"), 1<<20)) },
		"large file": func(r *rig) { r.write("dir/large", strings.Repeat("0123456789abcdef", 400_000)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rigWithFiles(t)
			first := r.model()
			r.holds(r.take(), first)
			r.auto() // files that were new at first can be trusted now
			edit(r)
			before, now := first, r.model()
			taken := r.takeAndCheck()
			if same := cmp.Equal(before, now); taken.Unchanged != same {
				t.Errorf("unchanged: %v, want %v", taken.Unchanged, same)
			}
			if again := r.auto(); !again.Unchanged || again.Snapshot.Version != taken.Snapshot.Version {
				t.Errorf("taken again: %+v", again.Snapshot)
			}
			r.holds(1, first)
		})
	}
}

func TestTakeDetectsImmediateEdits(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	// Edits of the same size, at shorter intervals than the ticks of the file system's clock.
	for i := range 60 {
		text := fmt.Sprintf("edit %03d", i)
		r.write("dir/three", text)
		if i%2 == 0 {
			r.write("dir/deep/"+text, text)
		}
		taken := r.auto()
		snapshot, err := r.store.Snapshot(taken.Snapshot.Version)
		r.must(err)
		var got strings.Builder
		r.must(restore.ReadFile(r.store, snapshot, "dir/three", &got))
		if got.String() != text {
			t.Fatalf("%s has %q, want %q", snapshot.Version, got.String(), text)
		}
	}
	r.holds(r.auto().Snapshot.Version, r.model())
}

// Files written after the start of the walk are not trusted. Files written before are, once the
// clock has advanced.
func TestTakeTrustsOnlyOlderFiles(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	r.take()
	for range 1000 {
		lines, _, ok := statLines(r.store, r.opts.Lineage)
		if !ok {
			t.Fatal("no stat cache")
		}
		trusted := true
		for path, line := range lines {
			trusted = trusted && (line.Ino != 0 || path == "dir" || path == "dir/deep" || path == "other" || path == "empty")
		}
		if trusted {
			return
		}
		r.auto()
	}
	t.Error("the stat cache never trusts anything")
}

func TestTakeOfChangingTree(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		var err error
		for i := 0; err == nil; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			dir := r.path(fmt.Sprintf("moving/%d", i%7))
			name := filepath.Join(dir, strconv.Itoa(i%11))
			switch i % 5 {
			case 0, 1:
				err = errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(name, fmt.Appendf(nil, "%09d", i), 0o644))
			case 2:
				err = os.RemoveAll(dir)
			case 3:
				if rename := os.Rename(dir, dir+"x"); rename != nil {
					err = os.RemoveAll(dir + "x")
				}
			case 4:
				err = os.WriteFile(r.path("dir/three"), fmt.Appendf(nil, "%09d", i), 0o644)
			}
		}
		done <- err
	}()
	for range 30 {
		r.auto()
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	r.takeAndCheck()
	if again := r.auto(); !again.Unchanged {
		t.Errorf("changed again: %+v", again)
	}
}

func TestTakeUsesCacheForMovedDirectory(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	r.write("dir/incompressible", noise(300_000))
	r.take()
	r.auto()
	r.must(errors.Join(os.Remove(r.stored("dedupe")), os.Rename(r.path("dir"), r.path("other/moved"))))
	// Without the dedupe table, all data that is read is stored again.
	if taken := r.takeAndCheck(); taken.Snapshot.Added > 10_000 {
		t.Errorf("%d bytes were added", taken.Snapshot.Added)
	}
}

func TestTakeStoresEachContentOnce(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	large := noise(5 << 20)
	r.write("noise", large)
	r.write("small", large[:500_000])
	r.take()
	r.write("dir/again", large)
	r.write("dir/small", large[:500_000])
	taken := r.takeAndCheck()
	if taken.Snapshot.Added > 10_000 {
		t.Errorf("%d bytes were added", taken.Snapshot.Added)
	}
	// A change in a large file stores only the part with the change.
	f, err := os.OpenFile(r.path("noise"), os.O_WRONLY, 0)
	r.must(err)
	_, err = f.WriteAt([]byte("changed"), 3<<20)
	r.must(errors.Join(err, f.Close()))
	if taken := r.takeAndCheck(); r.store.Linking() != "reflink" && taken.Snapshot.Added > 1<<20+10_000 {
		t.Errorf("%d bytes were added for one part", taken.Snapshot.Added)
	}
}

func TestTakeResult(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	now := time.Date(2024, 5, 6, 7, 8, 9, 10, time.UTC)
	r.opts.Now = func() time.Time { return now }
	causality := bands.Causality{Agent: "claude", Session: "s1", Turn: "t1", TranscriptLines: 7}
	first, err := r.tryTake(capture.TakeOptions{Options: r.opts, Cause: bands.Named, Message: "first", Late: true, Causality: causality})
	r.must(err)
	want := bands.Snapshot{
		Version: 1, Message: "first", Cause: bands.Named, Created: now, Root: r.root, Lineage: r.opts.Lineage, Late: true,
		Causality: causality, Totals: band.Totals{Files: 7, Dirs: 4, Bytes: 93},
		Tree: first.Snapshot.Tree, Bands: first.Snapshot.Bands, Added: first.Snapshot.Added,
	}
	if diff := cmp.Diff(want, first.Snapshot); diff != "" {
		t.Error(diff)
	}
	read, err := r.store.Snapshot(1)
	r.must(err)
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("as read: %s", diff)
	}
	if first.Entries != 11 || first.Changes != 0 {
		t.Errorf("%d entries, %d changes", first.Entries, first.Changes)
	}
	r.write("dir/three", "new text")
	r.remove("one")
	if second := r.auto(); second.Changes != 3 || second.Snapshot.Parent != 1 { // 3 with the root's time
		t.Errorf("%+v", second)
	}
}

func TestTakeRecordsUnknownEntries(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	r.must(errors.Join(syscall.Mkfifo(r.path("dir/fifo"), 0o644), os.MkdirAll(r.path("tmp/big"), 0o755)))
	r.opts.Exclude = []string{"tmp/"}
	if os.Geteuid() != 0 {
		r.write("secret", "x")
		r.must(os.Chmod(r.path("secret"), 0))
	}
	taken := r.auto()
	got := map[string]band.UnknownReason{}
	records, reader := r.store.Loader(taken.Snapshot)
	ref, _ := taken.Snapshot.Tree.Ref()
	err := band.WalkTree(t.Context(), records, ref, func(path string, e band.Entry, _ *band.Directory) error {
		if e.Kind == band.Unknown {
			got[path] = e.Reason
		}
		return nil
	})
	r.must(errors.Join(err, reader.Close()))
	want := map[string]band.UnknownReason{"dir/fifo": band.FIFO, "tmp": band.Excluded}
	if os.Geteuid() != 0 {
		want["secret"] = band.Unreadable
		if !slices.Equal(taken.Unreadable, []string{"secret"}) {
			t.Errorf("unreadable: %q", taken.Unreadable)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Excluded files may change.
	r.write("tmp/big/new", "x")
	r.must(os.Chmod(r.path("tmp"), 0o700))
	if taken := r.auto(); !taken.Unchanged {
		t.Errorf("%d changes", taken.Changes)
	}
	// A path that is no longer excluded is taken, and the rest isn't read again.
	r.opts.Exclude = nil
	r.must(os.Remove(r.stored("dedupe")))
	if again := r.auto(); again.Snapshot.Totals.Unknown != taken.Snapshot.Totals.Unknown-1 || again.Snapshot.Added > 2000 {
		t.Errorf("%+v", again.Snapshot)
	}
}

func TestTakeOfDatabase(t *testing.T) {
	t.Parallel()
	r := rigWithFiles(t)
	const head = "SQLite format 3\x00"
	r.write("db", head+strings.Repeat("page", 300))
	r.write("db-shm", "shared memory")
	r.write("text", "no database")
	r.write("text-shm", "so this is a file")
	names := func() []string {
		taken := r.auto()
		records, reader := r.store.Loader(taken.Snapshot)
		ref, _ := taken.Snapshot.Tree.Ref()
		dir, err := records.Directory(ref)
		r.must(errors.Join(err, reader.Close()))
		var list []string
		for _, e := range dir.Entries {
			if e.Kind == band.File {
				list = append(list, e.Name)
			}
		}
		return list
	}
	if diff := cmp.Diff([]string{"db", "one", "text", "text-shm", "two"}, names()); diff != "" {
		t.Error(diff)
	}
	r.write("db-shm", "SHARED memory")
	if taken := r.auto(); !taken.Unchanged {
		t.Errorf("the shared memory counts: %+v", taken)
	}
	r.remove("db")
	if diff := cmp.Diff([]string{"db-shm", "one", "text", "text-shm", "two"}, names()); diff != "" {
		t.Errorf("without its database: %s", diff)
	}
}

// noise returns n bytes that don't compress.
func noise(n int) string {
	state := uint64(88172645463325252)
	b := make([]byte, n)
	for i := range b {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		b[i] = byte(state)
	}
	return string(b)
}
