package disk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// abilities are the features of a file system.
type abilities struct {
	linking disk.Linking
	holes   bool // keeps holes in files
	punch   bool // can punch holes
	xattrs  bool
}

// exercise tests the content functions on the file system of dir, which must have these abilities.
func exercise(t *testing.T, dir string, has abilities) {
	for name, run := range map[string]func(t *testing.T, dir string, has abilities){
		"linking": exerciseLinking, "clone": exerciseClone, "holes": exerciseHoles, "xattrs": exerciseXattrs,
		"locks": func(t *testing.T, dir string, _ abilities) { exerciseLocks(t, dir) },
		"sync":  func(t *testing.T, dir string, _ abilities) { must(t, disk.Sync(dir)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, dir, has)
		})
	}
}

// TestContentInTempDir tests the file system of the temporary directory, with the abilities that it
// reports.
func TestContentInTempDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	linking, err := disk.LinkingAt(dir)
	must(t, err)
	f, err := os.Create(filepath.Join(dir, "probe"))
	must(t, err, f.Truncate(1<<20))
	var st dirfd.Stat
	must(t, dirfd.StatFile(f, &st))
	punch := disk.PunchHole(f, 0, 1<<16) == nil
	xattrs := dirfd.FileXattrs(f).Set("user.x", nil) == nil
	must(t, f.Close(), os.Remove(f.Name()))
	exercise(t, dir, abilities{linking, st.Blocks == 0, punch, xattrs})
}

// random returns the same n random bytes each time.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

func exerciseLinking(t *testing.T, dir string, has abilities) {
	how, err := disk.LinkingAt(dir)
	if must(t, err); how != has.linking {
		t.Errorf("linking is %s, want %s", how, has.linking)
	}
	d := t.TempDir() // may be another file system
	here := filepath.Join(dir, "linking")
	must(t, os.Mkdir(here, 0o700))
	text := random(100_001)
	src := filepath.Join(here, "src")
	must(t, os.WriteFile(src, text, 0o640))
	var inside, outside dirfd.Stat
	must(t, root(t, here).Self(&inside), root(t, d).Self(&outside))
	for _, how := range []disk.Linking{disk.Reflink, disk.Hardlink, disk.Copy} {
		for _, to := range []string{here, d} {
			dst := filepath.Join(to, string(how))
			must(t, disk.LinkOrCopy(how, src, dst))
			if got, err := os.ReadFile(dst); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%s in %s: %d bytes, %v", how, to, len(got), err)
			}
			a, errA := os.Stat(src)
			b, errB := os.Stat(dst)
			must(t, errA, errB)
			same := how == disk.Hardlink && has.linking != disk.Copy && (to == here || inside.Dev == outside.Dev)
			if os.SameFile(a, b) != same {
				t.Errorf("%s in %s: the same file: %v, want %v", how, to, !same, same)
			}
			if to == here && a.Mode() != b.Mode() {
				t.Errorf("%s: mode %v, want %v", how, b.Mode(), a.Mode())
			}
			if err := disk.LinkOrCopy(how, src, dst); !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s over something: %v", how, err)
			}
		}
	}
	if err := disk.LinkOrCopy(disk.Hardlink, src+".missing", src+".new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("from nothing: %v", err)
	}
	if diff := cmp.Diff([]string{"copy", "hard link", "reflink", "src"}, names(t, here)); diff != "" {
		t.Error(diff)
	}
}

func exerciseClone(t *testing.T, dir string, has abilities) {
	const size = 3<<20 + 17
	path := filepath.Join(dir, "clone")
	text := random(size)
	must(t, os.WriteFile(path, text, 0o600))
	src, err := os.Open(path)
	must(t, err)
	defer func() { _ = src.Close() }()
	whole, err := os.Create(path + ".whole")
	must(t, err)
	part, err := os.Create(path + ".part")
	must(t, err)
	for name, err := range map[string]error{
		"clone": disk.Clone(whole, src), "part": disk.CloneRange(part, 1<<20, src, 2<<20, 0), "file": disk.CloneFile(src, path+".file"),
	} {
		if has.linking == disk.Reflink && err != nil || has.linking != disk.Reflink && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, whole.Close(), part.Close())
	if has.linking != disk.Reflink {
		if _, err := os.Lstat(path + ".file"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a file that could not be cloned is there: %v", err)
		}
		return
	}
	for name, want := range map[string][]byte{"whole": text, "file": text, "part": slices.Concat(make([]byte, 1<<20), text[2<<20:])} {
		if got, err := os.ReadFile(path + "." + name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d, %v", name, len(got), len(want), err)
		}
	}
	// A write to the source doesn't change the clone.
	must(t, os.WriteFile(path, random(10), 0o600))
	if got, err := os.ReadFile(path + ".file"); err != nil || !bytes.Equal(got, text) {
		t.Errorf("a clone changed with its source: %v", err)
	}
}

// segments returns a file's segments as text. It joins adjacent ones of the same kind.
func segments(t *testing.T, f *os.File, size int64) string {
	t.Helper()
	var list []string
	next := int64(0)
	must(t, disk.Segments(f, size, func(off, n int64, hole bool) error {
		if off != next || n <= 0 {
			t.Errorf("a segment of %d at %d, behind %d", n, off, next)
		}
		next = off + n
		kind := "data"
		if hole {
			kind = "hole"
		}
		list = append(list, fmt.Sprintf("%s %d", kind, n>>20))
		return nil
	}))
	if next != size {
		t.Errorf("segments end at %d of %d", next, size)
	}
	return strings.Join(list, ", ")
}

func exerciseHoles(t *testing.T, dir string, has abilities) {
	const mega = 1 << 20
	for name, c := range map[string]struct {
		data []int64 // the written megabytes
		size int64
		want string
	}{
		"empty":  {nil, 0, ""},
		"all":    {[]int64{0, 1}, 2 * mega, "data 2"},
		"hole":   {nil, 5 * mega, "hole 5"},
		"first":  {[]int64{0}, 3 * mega, "data 1, hole 2"},
		"last":   {[]int64{2}, 3 * mega, "hole 2, data 1"},
		"amid":   {[]int64{1, 4}, 6 * mega, "hole 1, data 1, hole 2, data 1, hole 1"},
		"short":  {[]int64{0}, mega + 5, "data 1, hole 0"},
		"hollow": {[]int64{0, 2}, 3 * mega, "data 1, hole 1, data 1"},
	} {
		path := filepath.Join(dir, "holes."+name)
		f, err := os.Create(path)
		must(t, err, f.Truncate(c.size))
		for _, at := range c.data {
			_, err := f.WriteAt(random(mega), at*mega)
			must(t, err)
		}
		want := c.want
		if got := segments(t, f, c.size); has.holes && got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		must(t, f.Close(), disk.CopyFile(path, path+".copy"))
		copied, err := os.Open(path + ".copy")
		must(t, err)
		if got := segments(t, copied, c.size); has.holes && got != want {
			t.Errorf("the copy of %s: %q, want %q", name, got, want)
		}
		a, errA := os.ReadFile(path)
		b, errB := os.ReadFile(path + ".copy")
		if must(t, errA, errB, copied.Close(), os.Remove(path), os.Remove(path+".copy")); !bytes.Equal(a, b) {
			t.Errorf("the copy of %s differs", name)
		}
	}
	exercisePunch(t, filepath.Join(dir, "punched"), has)
}

func exercisePunch(t *testing.T, path string, has abilities) {
	t.Helper()
	want := random(3 << 20)
	must(t, os.WriteFile(path, want, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer func() { _ = f.Close() }()
	err = disk.PunchHole(f, 1<<20, 1<<20)
	if !has.punch {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("punch: %v", err)
		}
		return
	}
	clear(want[1<<20 : 2<<20])
	got, errRead := os.ReadFile(path)
	if must(t, err, errRead); !bytes.Equal(got, want) {
		t.Error("the hole isn't where it should be")
	}
	if got := segments(t, f, 3<<20); got != "data 1, hole 1, data 1" {
		t.Errorf("punched: %q", got)
	}
}

func TestSegmentsStopAtAnError(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	must(t, err, f.Truncate(1<<20))
	defer func() { _ = f.Close() }()
	stop := errors.New("stop")
	if err := disk.Segments(f, 1<<20, func(int64, int64, bool) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped with %v", err)
	}
	// If a file is truncated meanwhile, the missing part is a hole.
	must(t, f.Truncate(10))
	if got := segments(t, f, 1<<20); !strings.Contains(got, "hole") {
		t.Errorf("a file that was cut: %q", got)
	}
}

func TestFailedCopyLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "src"), 0o700))
	if err := disk.CopyFile(filepath.Join(dir, "src"), filepath.Join(dir, "dst")); err == nil {
		t.Error("a directory was copied")
	}
	if diff := cmp.Diff([]string{"src"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func exerciseXattrs(t *testing.T, dir string, has abilities) {
	sub := filepath.Join(dir, "xattrs")
	must(t, os.Mkdir(sub, 0o700))
	d := root(t, sub)
	write(t, d, "file", "")
	f, err := os.OpenFile(filepath.Join(sub, "file"), os.O_RDWR, 0)
	must(t, err)
	defer func() { _ = f.Close() }()
	none := func(list []dirfd.Xattr, err error) {
		t.Helper()
		if err != nil || len(list) > 0 {
			t.Errorf("attributes %v, %v", list, err)
		}
	}
	none(dirfd.FileXattrs(f).List())
	none(dirfd.DirXattrs(d).List())
	if !has.xattrs {
		if err := dirfd.FileXattrs(f).Set("user.a", nil); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("set: %v", err)
		}
		return
	}
	long := random(600)
	want := []dirfd.Xattr{{Name: "user.a", Value: []byte("1")}, {Name: "user.empty", Value: []byte{}}, {Name: "user.long", Value: long}}
	must(t, dirfd.FileXattrs(f).Set("user.long", long), dirfd.FileXattrs(f).Set("user.a", []byte("0")), dirfd.FileXattrs(f).Set("user.a", []byte("1")), dirfd.FileXattrs(f).Set("user.empty", nil))
	must(t, dirfd.DirXattrs(d).Set("user.dir", []byte("d")))
	got, err := dirfd.FileXattrs(f).List()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	must(t, dirfd.FileXattrs(f).Remove("user.a"), dirfd.FileXattrs(f).Remove("user.a"), dirfd.FileXattrs(f).Remove("user.never"))
	got, err = dirfd.EntryXattrs(d, "file").List()
	if diff := cmp.Diff(want[1:], got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	got, err = dirfd.DirXattrs(d).List()
	if diff := cmp.Diff([]dirfd.Xattr{{Name: "user.dir", Value: []byte("d")}}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	must(t, dirfd.DirXattrs(d).Remove("user.dir"), d.Symlink("file", "link"))
	none(dirfd.DirXattrs(d).List())
	// A link has its own attributes, not those of the file. Only root can set them.
	none(dirfd.EntryXattrs(d, "link").List())
}

func exerciseLocks(t *testing.T, dir string) {
	path := filepath.Join(dir, "locked")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		must(t, err)
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	mine, other := open(), open()
	test := func(f *os.File, exclusive bool, start, n int64, want bool) {
		t.Helper()
		if held, err := disk.OFDTest(f, exclusive, start, n); err != nil || held != want {
			t.Errorf("bytes %d+%d held: %v, %v", start, n, held, err)
		}
	}
	must(t, disk.OFDLock(mine, false, 100, 10), disk.OFDLock(other, false, 105, 1), disk.OFDUnlock(other, 105, 1))
	if err := disk.OFDLock(other, true, 109, 1); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("beside a shared lock: %v", err)
	}
	test(other, true, 105, 1, true)
	test(other, false, 105, 1, false)
	test(other, true, 110, 1, false)
	test(mine, true, 105, 1, false)
	must(t, disk.OFDLock(mine, true, 100, 10))
	test(other, false, 105, 1, true)
	must(t, disk.OFDUnlock(mine, 100, 5))
	test(other, true, 100, 5, false)
	test(other, true, 0, 0, true)
	must(t, mine.Close())
	test(other, true, 0, 0, false)
}

func TestSpaceAt(t *testing.T) {
	t.Parallel()
	s, err := disk.SpaceAt(t.TempDir())
	if err != nil || s.Type == "" || s.Total <= 0 || s.Free <= 0 || s.Free > s.Total {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := disk.SpaceAt(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nowhere: %v", err)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// root opens a directory and closes it at the end of the test.
func root(t *testing.T, path string) *dirfd.Dir {
	t.Helper()
	d, err := dirfd.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// write creates the file name with the text.
func write(t *testing.T, d *dirfd.Dir, name, text string) {
	t.Helper()
	f, err := d.Create(name, 0o644)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, err, f.Close())
}
