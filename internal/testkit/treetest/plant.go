package treetest

import (
	"bytes"
	"math/rand/v2"
	"os"

	"golang.org/x/sys/unix"
)

// Plant adds up to n new paths.
func (t *Tree) Plant(n int) {
	t.tb.Helper()
	kinds := []func(path string){
		t.file, t.file, t.file, t.file, t.directory, t.directory, t.symlink, t.link, t.sparse, t.database, t.repository, t.special,
	}
	for range n {
		path, ok := t.free()
		if ok {
			kinds[t.src(len(kinds), "kind")](path)
		}
	}
}

func (t *Tree) file(path string) {
	t.must(os.WriteFile(t.full(path), t.content(), 0o644))
	t.dress(path)
}

func (t *Tree) directory(path string) {
	t.must(os.Mkdir(t.full(path), 0o755))
	t.dress(path)
}

func (t *Tree) symlink(path string) {
	if !t.Can.Symlinks {
		return
	}
	targets := []string{"a", "../b", "nowhere", "/nowhere/outside", "/", ".", "..", "a/b/../c", longName(1), "with\nline"}
	target := targets[t.src(len(targets), "target")]
	t.must(os.Symlink(target, t.full(path)))
	t.setTime(path)
	if t.Can.LinkXattrs && t.src(6, "attribute of a symlink") == 1 {
		t.must(unix.Lsetxattr(t.full(path), "trusted.kind", []byte("link"), 0))
	}
}

// link gives a file one more name.
func (t *Tree) link(path string) {
	if file, ok := t.pick(t.list().files, "file"); ok && t.Can.Links {
		t.must(os.Link(t.full(file), t.full(path)))
	}
}

// sparse makes a file with holes.
func (t *Tree) sparse(path string) {
	const step = 64 << 10
	if !t.Can.Holes {
		return
	}
	f, err := os.Create(t.full(path))
	t.must(err)
	if err != nil {
		return
	}
	size := int64(1+t.src(40, "steps")) * step
	if t.Large && t.src(4, "large") == 1 {
		size += 5 << 20
	}
	t.must(f.Truncate(size - int64(t.src(2, "odd end"))*17))
	for range t.src(4, "parts") {
		off := int64(t.src(int(size/step), "step")) * step
		_, err := f.WriteAt(bytes.Repeat([]byte{byte(1 + off/step)}, step-100), off) //nolint:mnd // not the whole step
		t.must(err)
	}
	t.must(f.Close())
	t.dress(path)
}

// database makes what looks like a database to who reads its first bytes, and
// may be no good one.
func (t *Tree) database(path string) {
	const page = 4096
	data := make([]byte, page*(1+t.src(3, "pages")))
	copy(data, "SQLite format 3\x00\x10\x00\x01\x01\x00\x40\x20\x20")
	data[28] = byte(t.src(3, "pages said"))
	t.must(os.WriteFile(t.full(path), data, 0o644))
	if suffix := []string{"", "-wal", "-journal"}[t.src(3, "companion")]; suffix != "" {
		if _, err := os.Lstat(t.full(path + suffix)); err != nil {
			t.must(os.WriteFile(t.full(path+suffix), t.content(), 0o644))
		}
	}
}

// repository makes what is a repository of its own to who looks for .git.
func (t *Tree) repository(path string) {
	t.must(os.MkdirAll(t.full(path+"/.git/refs"), 0o755))
	t.must(os.WriteFile(t.full(path+"/.git/HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
	t.must(os.WriteFile(t.full(path+"/inside"), []byte("of a repository inside\n"), 0o644))
	t.must(os.WriteFile(t.full(path+"/.git/config"), []byte("[core]\n\trepositoryformatversion = 0\n"), 0o644))
}

// special makes what a snapshot only notes.
func (t *Tree) special(path string) {
	switch {
	case t.Plain:
	case t.src(2, "special") == 1 && t.Can.Sockets:
		t.must(socket(t.full(path)))
	case t.Can.FIFOs:
		t.must(unix.Mkfifo(t.full(path), 0o644))
	}
}

// content is what a file holds: often what another holds too.
func (t *Tree) content() []byte {
	sizes := []int{5, 0, 1, 100, 1000, 4095, 4096, 4097, 20000, 65536, 200000}
	if t.Large {
		sizes = append(sizes, 1<<20-1, 1<<20, 1<<20+1, 4<<20, 4<<20+1, 9<<20)
	}
	data := make([]byte, sizes[t.src(len(sizes), "size")])
	seed := uint64(t.src(6, "content"))
	r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // to be repeated, not secret
	switch seed {
	case 0:
		copy(data, bytes.Repeat([]byte("plain text\n"), 1+len(data)/11))
	case 1: // zeros, which are no hole
	default:
		for i := range data {
			data[i] = byte(r.Uint32())
		}
	}
	return data
}

// dress gives a path attributes that most have none of.
func (t *Tree) dress(path string) {
	for range t.src(3, "attributes") {
		t.attribute(path)
	}
}
