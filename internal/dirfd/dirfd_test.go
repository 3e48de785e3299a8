package dirfd_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

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

// must ends the test if there is an error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// write creates the file name with the text.
func write(t *testing.T, d *dirfd.Dir, name, text string) {
	t.Helper()
	f, err := d.Create(name, 0o644)
	must(t, err)
	_, err = f.WriteString(text)
	must(t, err, f.Close())
}

// entries returns the names and types that a directory yields.
func entries(t *testing.T, d *dirfd.Dir, buf []byte) map[string]byte {
	t.Helper()
	list := map[string]byte{}
	must(t, d.Names(buf, func(name []byte, dtype byte) error {
		if _, twice := list[string(name)]; twice {
			t.Errorf("%q twice", name)
		}
		list[string(name)] = dtype
		return nil
	}))
	return list
}

func TestNamesWithAnyBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := root(t, dir)
	want := map[string]byte{"sub": dirfd.TypeDir, "link": dirfd.TypeSymlink, "fifo": dirfd.TypeFIFO}
	must(t, d.Mkdir("sub", 0o700), d.Symlink("nowhere", "link"), syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	odd := []string{"a", "...", ".hidden", "new\nline", "ünïcode", " ", strings.Repeat("x", 255)}
	if runtime.GOOS == "linux" { // other systems require UTF-8
		odd = append(odd, "\xff\xfe")
	}
	for _, name := range odd {
		write(t, d, name, "")
		want[name] = dirfd.TypeRegular
	}
	for i := range 500 {
		name := strings.Repeat("n", 1+i%200) + string(rune('0'+i/200))
		write(t, d, name, "")
		want[name] = dirfd.TypeRegular
	}
	for _, size := range []int{1 << 10, 64 << 10} {
		if diff := cmp.Diff(want, entries(t, d, make([]byte, size))); diff != "" {
			t.Errorf("a buffer of %d: %s", size, diff)
		}
	}
	stop := errors.New("stop")
	if err := d.Names(make([]byte, 8<<10), func([]byte, byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped with %v", err)
	}
	if diff := cmp.Diff(want, entries(t, d, make([]byte, 8<<10))); diff != "" {
		t.Errorf("after a stop: %s", diff)
	}
}

func TestStat(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := root(t, dir)
	write(t, d, "file", "12345")
	must(t,
		d.Entry("file").Chmod(0o4751), d.Entry("file").SetTime(time.Unix(1_000_000_000, 123_456_789)),
		d.Symlink("file", "link"), d.Entry("link").SetTime(time.Unix(-1, 999_999_999)), d.Link("file", d, "second"), d.Mkdir("sub", 0o750),
	)
	type seen struct {
		Mode  uint32
		Size  int64
		Nlink uint64
		Mtime int64
	}
	for name, want := range map[string]seen{
		"file":   {dirfd.ModeRegular | 0o4751, 5, 2, 1_000_000_000_123_456_789},
		"second": {dirfd.ModeRegular | 0o4751, 5, 2, 1_000_000_000_123_456_789},
		"link":   {dirfd.ModeSymlink | 0o777, 4, 1, -1},
	} {
		var st dirfd.Stat
		must(t, d.Stat(name, &st))
		if st.IsSymlink() {
			st.Mode |= 0o777 // on some systems links have modes
		}
		if diff := cmp.Diff(want, seen{st.Mode, st.Size, st.Nlink, st.Mtime}); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	sub, err := d.Open("sub")
	must(t, err)
	var inside, outside, file, open dirfd.Stat
	must(t, sub.Self(&inside), d.Stat("sub", &outside), d.Stat("file", &file), sub.Close())
	if inside != outside || !inside.IsDir() || inside.Dev != file.Dev || inside.Ino == file.Ino {
		t.Errorf("a directory from inside %+v, from outside %+v", inside, outside)
	}
	f, err := d.OpenFile("second")
	must(t, err, dirfd.StatFile(f, &open), f.Close())
	if open != file {
		t.Errorf("open %+v, by name %+v", open, file)
	}
	info, err := os.Lstat(filepath.Join(dir, "file"))
	if must(t, err); disk.Changed(info).UnixNano() != file.Ctime {
		t.Errorf("changed %v, %v", disk.Changed(info), time.Unix(0, file.Ctime))
	}
}

// TestTimesAreExact sets usual times, the first and last ones of file systems, and one that doesn't
// fit in an int64 of nanoseconds.
func TestTimesAreExact(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := root(t, dir)
	write(t, d, "file", "")
	for _, c := range []struct{ sec, nsec, want int64 }{
		{0, 0, 0},
		{0, 1, 1},
		{1_732_000_000, 999_999_999, 1_732_000_000_999_999_999},
		{-1 << 31, 0, -(1 << 31) * 1_000_000_000},
		{-2, 5, -1_999_999_995},
		{1 << 33, 7, (1<<33)*1_000_000_000 + 7},
		{9_300_000_000, 0, math.MaxInt64},
	} {
		var st dirfd.Stat
		must(t, d.Entry("file").SetTime(time.Unix(c.sec, c.nsec)), d.Stat("file", &st))
		info, err := os.Lstat(filepath.Join(dir, "file"))
		must(t, err)
		if clamped := info.ModTime().Unix() != c.sec; st.Mtime != c.want && !clamped {
			t.Errorf("%d s %d ns: %d, want %d", c.sec, c.nsec, st.Mtime, c.want)
		}
	}
	var before, after dirfd.Stat
	must(t, d.Self(&before), d.SetTime(time.Unix(77, 8)), d.Self(&after))
	if after.Mtime != 77_000_000_008 || after.Ino != before.Ino {
		t.Errorf("its own: %+v", after)
	}
}

func TestNamesStayInDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "in"), 0o700), os.Mkdir(filepath.Join(dir, "out"), 0o700),
		os.WriteFile(filepath.Join(dir, "out", "file"), []byte("theirs"), 0o640),
		os.Symlink("../out", filepath.Join(dir, "in", "dir")), os.Symlink("../out/file", filepath.Join(dir, "in", "link")))
	before := survey(t, filepath.Join(dir, "out"))
	d := root(t, filepath.Join(dir, "in"))
	write(t, d, "mine", "")
	for _, name := range []string{"..", ".", "", "/", "../out", "dir/file", "a\x00b"} {
		for op, err := range everyOperation(d, name) {
			if err == nil {
				t.Errorf("%s %q was done", op, name)
			}
		}
	}
	for _, op := range []string{"open", "open file", "read", "chmod", "create", "mkdir"} {
		for _, name := range []string{"dir", "link"} {
			if err := everyOperation(d, name)[op]; err == nil {
				t.Errorf("%s of the link %q was done", op, name)
			}
		}
	}
	if diff := cmp.Diff(before, survey(t, filepath.Join(dir, "out"))); diff != "" {
		t.Error(diff)
	}
}

// everyOperation performs every operation that takes a name.
func everyOperation(d *dirfd.Dir, name string) map[string]error {
	var st dirfd.Stat
	results := map[string]error{
		"stat": d.Stat(name, &st), "chmod": d.Entry(name).Chmod(0o600),
		"utimes": d.Entry(name).SetTime(time.Unix(1, 1)), "chown": d.Entry(name).Chown(os.Getuid(), os.Getgid()),
		"mkdir": d.Mkdir(name, 0o700), "symlink": d.Symlink("x", name), "link": d.Link("mine", d, name),
	}
	dir, err := d.Open(name)
	if results["open"] = err; err == nil {
		_ = dir.Close()
	}
	f, err := d.OpenFile(name)
	if results["open file"] = err; err == nil {
		_ = f.Close()
	}
	f, err = d.Create(name, 0o600)
	if results["create"] = err; err == nil {
		_ = f.Close()
	}
	_, results["readlink"] = d.Readlink(name)
	_, results["read"] = d.ReadSmall(name, make([]byte, 100), &st, &st)
	if strings.ContainsAny(name, "./\x00") || name == "" {
		results["rename from"], results["rename to"] = d.Rename(name, d, "x"), d.Rename("mine", d, name)
		results["link from"], results["unlink"], results["rmdir"] = d.Link(name, d, "x"), d.Unlink(name), d.Rmdir(name)
	}
	return results
}

// survey returns the contents of a directory: paths, modes, times, texts.
func survey(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		text, _ := os.ReadFile(path)
		list = append(list, strings.Join([]string{path, info.Mode().String(), info.ModTime().String(), string(text)}, " "))
		return err
	}))
	return list
}

func TestWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := root(t, dir)
	must(t, d.Mkdir("sub", 0o700))
	sub, err := d.Open("sub")
	must(t, err)
	write(t, d, "a", "a")
	write(t, d, "b", "b")
	must(t, d.Rename("a", d, "b"), d.Rename("b", sub, "c"), sub.Link("c", d, "d"), d.Symlink("sub/c", "e"), sub.Unlink("c"), sub.Close(), d.Rmdir("sub"))
	if diff := cmp.Diff([]string{"d", "e"}, names(t, dir)); diff != "" {
		t.Error(diff)
	}
	if target, err := d.Readlink("e"); err != nil || target != "sub/c" {
		t.Errorf("e points to %q, %v", target, err)
	}
	long := strings.Repeat("../", 1300)
	must(t, d.Symlink(long, "long"))
	if target, err := d.Readlink("long"); err != nil || target != long {
		t.Errorf("a long link: %d bytes, %v", len(target), err)
	}
	for want, err := range map[error]error{
		fs.ErrExist:       errorOf(d.Create("d", 0o600)),
		fs.ErrNotExist:    d.Unlink("missing"),
		syscall.ENOTDIR:   d.Rmdir("d"),
		syscall.ENOTEMPTY: errors.Join(d.Mkdir("full", 0o700), os.WriteFile(filepath.Join(dir, "full", "x"), nil, 0o600), d.Rmdir("full")),
	} {
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	var path *fs.PathError
	if err := d.Unlink("missing"); !errors.As(err, &path) || path.Path != filepath.Join(dir, "missing") {
		t.Errorf("the error %v doesn't tell where", err)
	}
}

func errorOf[T any](_ T, err error) error { return err }

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := root(t, dir)
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600), d.Mkdir("sub", 0o700), d.Symlink("fifo", "link"))
	for _, name := range []string{"fifo", "sub"} {
		if _, err := d.OpenFile(name); !errors.Is(err, dirfd.ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.OpenFile("link"); err == nil {
		t.Error("a link was followed")
	}
}

func TestReadSmall(t *testing.T) {
	t.Parallel()
	d := root(t, t.TempDir())
	buf := make([]byte, 1000)
	for _, size := range []int{0, 1, 999, 1000, 1001, 5000} {
		text := strings.Repeat("x", size)
		name := "f" + text[:min(size, 5)] + string(rune('a'+size%26))
		write(t, d, name, text)
		var before, after dirfd.Stat
		n, err := d.ReadSmall(name, buf, &before, &after)
		must(t, err)
		switch {
		case size > len(buf) && n != -1, size <= len(buf) && (n != size || !bytes.Equal(buf[:n], []byte(text))):
			t.Errorf("%d bytes: read %d", size, n)
		case n >= 0 && before != after, before.Size != int64(size):
			t.Errorf("%d bytes: %+v, then %+v", size, before, after)
		}
	}
	if _, err := d.ReadSmall("missing", buf, &dirfd.Stat{}, &dirfd.Stat{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestRootMayBeSymlink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o700), os.Symlink("real", filepath.Join(dir, "link")), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	write(t, root(t, filepath.Join(dir, "link")), "file", "")
	if !slices.Equal(names(t, filepath.Join(dir, "real")), []string{"file"}) {
		t.Error("the file isn't there")
	}
	if _, err := dirfd.OpenRoot(filepath.Join(dir, "file")); err == nil {
		t.Error("a file was opened as a directory")
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}
