package treetest

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Edit makes n changes to what is there.
func (t *Tree) Edit(n int) {
	t.tb.Helper()
	kinds := []func(){
		t.rewrite, t.rewrite, t.rewrite, t.remove, t.move, t.turn, t.same, t.resize, t.swap, t.unlink, t.touch, t.hole,
		func() { t.Plant(1) }, func() { t.Plant(2) },
	}
	for range n {
		kinds[t.src(len(kinds), "edit")]()
	}
}

// rewrite writes a file anew, in place or by a new one under its name.
func (t *Tree) rewrite() {
	path, ok := t.pick(t.list().files, "file")
	if !ok {
		return
	}
	data := t.content()
	if t.src(2, "way") == 0 {
		t.allow(path)
		t.must(os.WriteFile(t.full(path), data, 0o644))
		return
	}
	t.writable(path)
	other := t.full(join(parent(path), "~new"))
	t.must(os.WriteFile(other, data, 0o600))
	t.must(os.Rename(other, t.full(path)))
}

// allow lets a file be written by its owner who isn't root.
func (t *Tree) allow(path string) {
	if info, err := os.Lstat(t.full(path)); err == nil && info.Mode()&0o600 != 0o600 && os.Geteuid() != 0 {
		t.must(os.Chmod(t.full(path), info.Mode()|0o600))
	}
}

func (t *Tree) remove() {
	if path, ok := t.pick(t.list().all, "path"); ok {
		t.removeAll(path)
	}
}

func (t *Tree) removeAll(path string) {
	t.writable(path)
	if os.Geteuid() != 0 {
		Loosen(t.full(path))
	}
	t.must(os.RemoveAll(t.full(path)))
}

// move renames something, maybe over a file, maybe into another directory.
func (t *Tree) move() {
	from, ok := t.pick(t.list().all, "path")
	to, free := t.free()
	if !ok || !free || under(to, from) {
		return
	}
	t.writable(from)
	t.writable(to)
	t.must(os.Rename(t.full(from), t.full(to)))
}

// turn makes something of another kind under the same name.
func (t *Tree) turn() {
	path, ok := t.pick(t.list().all, "path")
	if !ok {
		return
	}
	t.removeAll(path)
	kinds := []func(string){t.file, t.directory, t.symlink, t.special, t.sparse}
	kinds[t.src(len(kinds), "new kind")](path)
}

// same changes bytes and leaves length and mtime as they were.
func (t *Tree) same() {
	path, ok := t.pick(t.list().files, "file")
	if !ok {
		return
	}
	t.allow(path)
	var st unix.Stat_t
	t.must(unix.Lstat(t.full(path), &st))
	if st.Size == 0 {
		return
	}
	f, err := os.OpenFile(t.full(path), os.O_RDWR, 0)
	t.must(err)
	if err != nil {
		return
	}
	at := int64(t.src(int(st.Size), "byte"))
	old := make([]byte, 1)
	_, err = f.ReadAt(old, at)
	t.must(err)
	_, err = f.WriteAt([]byte{old[0] + 1}, at)
	t.must(err)
	t.must(f.Close())
	t.must(setTime(t.full(path), mtime(&st)))
}

// resize cuts a file or makes it longer.
func (t *Tree) resize() {
	path, ok := t.pick(t.list().files, "file")
	if !ok {
		return
	}
	t.allow(path)
	info, err := os.Lstat(t.full(path))
	t.must(err)
	if t.src(2, "way") == 0 && info.Size() > 0 {
		t.must(os.Truncate(t.full(path), info.Size()/2)) //nolint:mnd // half of it
		return
	}
	f, err := os.OpenFile(t.full(path), os.O_WRONLY|os.O_APPEND, 0)
	t.must(err)
	if err == nil {
		_, err = f.Write(bytes.Repeat([]byte("more\n"), 1+t.src(1000, "lines")))
		t.must(err)
		t.must(f.Close())
	}
}

// swap exchanges two files: names and times stay, what they name doesn't.
func (t *Tree) swap() {
	files := t.list().files
	one, ok := t.pick(files, "file")
	two, _ := t.pick(files, "file")
	if !ok || one == two {
		return
	}
	t.writable(one)
	t.writable(two)
	between := t.full(join(parent(one), "~between"))
	t.must(os.Rename(t.full(one), between))
	t.must(os.Rename(t.full(two), t.full(one)))
	t.must(os.Rename(between, t.full(two)))
}

// unlink gives a name that may share its file one of its own, with the same bytes.
func (t *Tree) unlink() {
	path, ok := t.pick(t.list().files, "file")
	if !ok {
		return
	}
	t.allow(path)
	data, err := os.ReadFile(t.full(path))
	t.must(err)
	t.writable(path)
	t.must(os.Remove(t.full(path)))
	t.must(os.WriteFile(t.full(path), data, 0o644)) //nolint:gosec // below the root
}

func (t *Tree) touch() {
	if path, ok := t.pick(append(t.list().all, "."), "path"); ok {
		t.attribute(path)
	}
}

// hole takes a part out of a file.
func (t *Tree) hole() {
	path, ok := t.pick(t.list().files, "file")
	if !ok || !t.Can.Holes {
		return
	}
	t.allow(path)
	f, err := os.OpenFile(t.full(path), os.O_RDWR, 0)
	t.must(err)
	if err == nil {
		_ = punch(int(f.Fd()), int64(t.src(4, "step"))<<16, 1<<16) // where it can be
		t.must(f.Close())
	}
}

// attribute changes one attribute of a path: its mode, owner, time, or an
// extended one.
func (t *Tree) attribute(path string) {
	info, err := os.Lstat(t.full(path))
	t.must(err)
	if err != nil {
		return
	}
	symlink := info.Mode()&os.ModeSymlink != 0
	switch t.src(4, "attribute") { //nolint:mnd // as many as there are
	case 0:
		t.setTime(path)
	case 1:
		if t.Can.Modes && !symlink {
			t.must(unix.Chmod(t.full(path), t.mode(info.IsDir())))
		}
	case 2: //nolint:mnd // the next one
		if t.Can.Owners {
			ids := []int{0, 1000, 65534}
			t.must(unix.Lchown(t.full(path), ids[t.src(3, "user")], ids[t.src(3, "group")]))
		}
	default:
		if t.Can.Xattrs && (info.IsDir() || info.Mode().IsRegular()) {
			t.xattr(path)
		}
	}
}

func (t *Tree) xattr(path string) {
	names := []string{"user.one", "user.two", "user." + strings.Repeat("n", 200)}
	name := names[t.src(len(names), "attribute")]
	if t.src(3, "away") == 2 {
		_ = unix.Lremovexattr(t.full(path), name) // if it has it
		return
	}
	t.allow(path)
	values := []string{"value", "", "\x00\xff", strings.Repeat("v", 1000)}
	err := unix.Lsetxattr(t.full(path), name, []byte(values[t.src(len(values), "value")]), 0)
	if !errors.Is(err, unix.ENOSPC) { // a small block holds few of them
		t.must(err)
	}
}

// mode is one that leaves the owner able to read, and root in no better place.
func (t *Tree) mode(dir bool) uint32 {
	if dir {
		modes := []uint32{0o755, 0o700, 0o777, 0o1777, 0o2755, 0o555, 0o500}
		return modes[t.src(len(modes), "mode")]
	}
	modes := []uint32{0o644, 0o600, 0o755, 0o444, 0o400, 0o666, 0o4755, 0o2755, 0o6711}
	if os.Geteuid() == 0 {
		modes = append(modes, 0, 0o200)
	}
	return modes[t.src(len(modes), "mode")]
}

func (t *Tree) setTime(path string) {
	times := []time.Time{
		time.Unix(1700000000, 0),
		time.Unix(1700000000, 1),
		time.Unix(1, 999999999),
		time.Unix(0, 0),
		time.Unix(2000000000, 5), // to come
		time.Unix(315532800, 0),
	}
	if t.Can.Old {
		times = append(times, time.Unix(-2, 500), time.Unix(-1000000000, 999999999))
	}
	when := times[t.src(len(times), "time")]
	if !t.Can.Nanos {
		when = time.Unix(max(when.Unix(), 315532800)&^1, 0) // FAT: since 1980, in steps of two seconds
	}
	t.must(setTime(t.full(path), when.UnixNano()))
}
