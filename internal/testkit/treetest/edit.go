package treetest

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// editor changes existing paths.
type editor struct{ planter }

// Edit makes n random changes.
func (t *Tree) Edit(n int) {
	t.tb.Helper()
	e := editor{planter{t}}
	kinds := []func(){
		e.rewrite, e.rewrite, e.rewrite, e.remove, e.move, e.turn, e.same, e.resize, e.swap, e.unlink, e.touch, e.hole,
		func() { t.Plant(1) }, func() { t.Plant(2) },
	}
	for range n {
		kinds[t.src(len(kinds), "edit")]()
	}
}

// rewrite rewrites a file, in place or by replacing it with a new one.
func (e editor) rewrite() {
	path, ok := e.pick(e.list().files, "file")
	if !ok {
		return
	}
	data := e.content()
	if e.src(2, "way") == 0 {
		e.allow(path)
		e.must(os.WriteFile(e.full(path), data, 0o644))
		return
	}
	e.writable(path)
	other := e.full(join(parent(path), "~new"))
	e.must(os.WriteFile(other, data, 0o600))
	e.must(os.Rename(other, e.full(path)))
}

func (e editor) remove() {
	if path, ok := e.pick(e.list().all, "path"); ok {
		e.removeAll(path)
	}
}

func (e editor) removeAll(path string) {
	e.writable(path)
	if os.Geteuid() != 0 {
		Loosen(e.full(path))
	}
	e.must(os.RemoveAll(e.full(path)))
}

// move renames a path, possibly over a file or into another directory.
func (e editor) move() {
	from, ok := e.pick(e.list().all, "path")
	to, free := e.free()
	if !ok || !free || under(to, from) {
		return
	}
	e.writable(from)
	e.writable(to)
	e.must(os.Rename(e.full(from), e.full(to)))
}

// turn replaces a path by one of another kind.
func (e editor) turn() {
	path, ok := e.pick(e.list().all, "path")
	if !ok {
		return
	}
	e.removeAll(path)
	kinds := []func(string){e.file, e.directory, e.symlink, e.special, e.sparse}
	kinds[e.src(len(kinds), "new kind")](path)
}

// same changes a byte of a file, but not its length and mtime.
func (e editor) same() {
	path, ok := e.pick(e.list().files, "file")
	if !ok {
		return
	}
	e.allow(path)
	var st unix.Stat_t
	e.must(unix.Lstat(e.full(path), &st))
	if st.Size == 0 {
		return
	}
	f, err := os.OpenFile(e.full(path), os.O_RDWR, 0)
	e.must(err)
	if err != nil {
		return
	}
	at := int64(e.src(int(st.Size), "byte"))
	old := make([]byte, 1)
	_, err = f.ReadAt(old, at)
	e.must(err)
	_, err = f.WriteAt([]byte{old[0] + 1}, at)
	e.must(err)
	e.must(f.Close())
	e.must(setTime(e.full(path), mtime(&st)))
}

// resize truncates or extends a file.
func (e editor) resize() {
	path, ok := e.pick(e.list().files, "file")
	if !ok {
		return
	}
	e.allow(path)
	info, err := os.Lstat(e.full(path))
	e.must(err)
	if e.src(2, "way") == 0 && info.Size() > 0 {
		e.must(os.Truncate(e.full(path), info.Size()/2)) //nolint:mnd // half of it
		return
	}
	f, err := os.OpenFile(e.full(path), os.O_WRONLY|os.O_APPEND, 0)
	e.must(err)
	if err == nil {
		_, err = f.Write(bytes.Repeat([]byte("more\n"), 1+e.src(1000, "lines")))
		e.must(err)
		e.must(f.Close())
	}
}

// swap exchanges the names of two files; their times are unchanged.
func (e editor) swap() {
	files := e.list().files
	one, ok := e.pick(files, "file")
	two, _ := e.pick(files, "file")
	if !ok || one == two {
		return
	}
	e.writable(one)
	e.writable(two)
	between := e.full(join(parent(one), "~between"))
	e.must(os.Rename(e.full(one), between))
	e.must(os.Rename(e.full(two), e.full(one)))
	e.must(os.Rename(between, e.full(two)))
}

// unlink replaces a path, which may be a hard link, by a new file with the same bytes.
func (e editor) unlink() {
	path, ok := e.pick(e.list().files, "file")
	if !ok {
		return
	}
	e.allow(path)
	data, err := os.ReadFile(e.full(path))
	e.must(err)
	e.writable(path)
	e.must(os.Remove(e.full(path)))
	e.must(os.WriteFile(e.full(path), data, 0o644)) //nolint:gosec // below the root
}

func (e editor) touch() {
	if path, ok := e.pick(append(e.list().all, "."), "path"); ok {
		e.attribute(path)
	}
}

// hole punches a hole into a file.
func (e editor) hole() {
	path, ok := e.pick(e.list().files, "file")
	if !ok || !e.Can.Holes {
		return
	}
	e.allow(path)
	f, err := os.OpenFile(e.full(path), os.O_RDWR, 0)
	e.must(err)
	if err == nil {
		_ = punch(int(f.Fd()), int64(e.src(4, "step"))<<16, 1<<16) // not supported everywhere
		e.must(f.Close())
	}
}
