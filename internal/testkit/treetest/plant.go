package treetest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// planter adds paths of each kind, and sets attributes.
type planter struct{ *Tree }

// Plant adds up to n new paths.
func (t *Tree) Plant(n int) {
	t.tb.Helper()
	p := planter{t}
	kinds := []func(path string){
		p.file, p.file, p.file, p.file, p.directory, p.directory, p.symlink, p.link, p.sparse, p.database, p.repository, p.special,
	}
	for range n {
		path, ok := t.free()
		if ok {
			kinds[t.src(len(kinds), "kind")](path)
		}
	}
}

func (p planter) file(path string) {
	p.must(os.WriteFile(p.full(path), p.content(), 0o644))
	p.dress(path)
}

func (p planter) directory(path string) {
	p.must(os.Mkdir(p.full(path), 0o755))
	p.dress(path)
}

func (p planter) symlink(path string) {
	if !p.Can.Symlinks {
		return
	}
	targets := []string{"a", "../b", "nowhere", "/nowhere/outside", "/", ".", "..", "a/b/../c", longName(1), "with\nline"}
	target := targets[p.src(len(targets), "target")]
	p.must(os.Symlink(target, p.full(path)))
	p.setTime(path)
	if p.Can.LinkXattrs && p.src(6, "attribute of a symlink") == 1 {
		p.must(unix.Lsetxattr(p.full(path), "trusted.kind", []byte("link"), 0))
	}
}

// link adds a hard link to a file.
func (p planter) link(path string) {
	if file, ok := p.pick(p.list().files, "file"); ok && p.Can.Links {
		p.must(os.Link(p.full(file), p.full(path)))
	}
}

// sparse makes a file with holes.
func (p planter) sparse(path string) {
	const step = 64 << 10
	if !p.Can.Holes {
		return
	}
	f, err := os.Create(p.full(path))
	p.must(err)
	if err != nil {
		return
	}
	size := int64(1+p.src(40, "steps")) * step
	if p.Large && p.src(4, "large") == 1 {
		size += 5 << 20
	}
	p.must(f.Truncate(size - int64(p.src(2, "odd end"))*17))
	for range p.src(4, "parts") {
		off := int64(p.src(int(size/step), "step")) * step
		_, err := f.WriteAt(bytes.Repeat([]byte{byte(1 + off/step)}, step-100), off) //nolint:mnd // not the whole step
		p.must(err)
	}
	p.must(f.Close())
	p.dress(path)
}

// database makes a file with the magic number of a database; the rest may be invalid.
func (p planter) database(path string) {
	const page = 4096
	data := make([]byte, page*(1+p.src(3, "pages")))
	copy(data, "SQLite format 3\x00\x10\x00\x01\x01\x00\x40\x20\x20")
	data[28] = byte(p.src(3, "pages said"))
	p.must(os.WriteFile(p.full(path), data, 0o644))
	if suffix := []string{"", "-wal", "-journal"}[p.src(3, "companion")]; suffix != "" {
		if _, err := os.Lstat(p.full(path + suffix)); err != nil {
			p.must(os.WriteFile(p.full(path+suffix), p.content(), 0o644))
		}
	}
}

// repository makes a nested repository, as recognized by its .git.
func (p planter) repository(path string) {
	p.must(os.MkdirAll(p.full(path+"/.git/refs"), 0o755))
	p.must(os.WriteFile(p.full(path+"/.git/HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
	p.must(os.WriteFile(p.full(path+"/inside"), []byte("of a repository inside\n"), 0o644))
	p.must(os.WriteFile(p.full(path+"/.git/config"), []byte("[core]\n\trepositoryformatversion = 0\n"), 0o644))
}

// special makes a path that a snapshot records but doesn't hold.
func (p planter) special(path string) {
	switch {
	case p.Plain:
	case p.src(2, "special") == 1 && p.Can.Sockets:
		p.must(socket(p.full(path)))
	case p.Can.FIFOs:
		p.must(unix.Mkfifo(p.full(path), 0o644))
	}
}

// content returns the content of a file, often the same as another file's.
func (p planter) content() []byte {
	sizes := []int{5, 0, 1, 100, 1000, 4095, 4096, 4097, 20000, 65536, 200000}
	if p.Large {
		sizes = append(sizes, 1<<20-1, 1<<20, 1<<20+1, 4<<20, 4<<20+1, 9<<20)
	}
	data := make([]byte, sizes[p.src(len(sizes), "size")])
	seed := uint64(p.src(6, "content"))
	r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // to be repeated, not secret
	switch seed {
	case 0:
		copy(data, bytes.Repeat([]byte("plain text\n"), 1+len(data)/11))
	case 1: // zeros that aren't a hole
	default:
		for i := range data {
			data[i] = byte(r.Uint32())
		}
	}
	return data
}

// dress sets up to two uncommon attributes of a path.
func (p planter) dress(path string) {
	for range p.src(3, "attributes") {
		p.attribute(path)
	}
}

// attribute changes one attribute of a path: its mode, owner, time, or an
// extended one.
func (p planter) attribute(path string) {
	info, err := os.Lstat(p.full(path))
	p.must(err)
	if err != nil {
		return
	}
	symlink := info.Mode()&os.ModeSymlink != 0
	switch p.src(4, "attribute") { //nolint:mnd // as many as there are
	case 0:
		p.setTime(path)
	case 1:
		if p.Can.Modes && !symlink {
			p.must(unix.Chmod(p.full(path), p.mode(info.IsDir())))
		}
	case 2: //nolint:mnd // the next one
		if p.Can.Owners {
			ids := []int{0, 1000, 65534}
			p.must(unix.Lchown(p.full(path), ids[p.src(3, "user")], ids[p.src(3, "group")]))
		}
	default:
		if p.Can.Xattrs && (info.IsDir() || info.Mode().IsRegular()) {
			p.xattr(path)
		}
	}
}

func (p planter) xattr(path string) {
	names := []string{"user.one", "user.two", "user." + strings.Repeat("n", 200)}
	name := names[p.src(len(names), "attribute")]
	if p.src(3, "away") == 2 {
		_ = unix.Lremovexattr(p.full(path), name) // if it is set
		return
	}
	p.allow(path)
	values := []string{"value", "", "\x00\xff", strings.Repeat("v", 1000)}
	err := unix.Lsetxattr(p.full(path), name, []byte(values[p.src(len(values), "value")]), 0)
	if !errors.Is(err, unix.ENOSPC) { // a small block has no room for many
		p.must(err)
	}
}

// mode returns a random mode. The owner can read the path, except in modes that only root sets.
func (p planter) mode(dir bool) uint32 {
	if dir {
		modes := []uint32{0o755, 0o700, 0o777, 0o1777, 0o2755, 0o555, 0o500}
		return modes[p.src(len(modes), "mode")]
	}
	modes := []uint32{0o644, 0o600, 0o755, 0o444, 0o400, 0o666, 0o4755, 0o2755, 0o6711}
	if os.Geteuid() == 0 {
		modes = append(modes, 0, 0o200)
	}
	return modes[p.src(len(modes), "mode")]
}

func (p planter) setTime(path string) {
	times := []time.Time{
		time.Unix(1700000000, 0),
		time.Unix(1700000000, 1),
		time.Unix(1, 999999999),
		time.Unix(0, 0),
		time.Unix(2000000000, 5), // in the future
		time.Unix(315532800, 0),
	}
	if p.Can.Old {
		times = append(times, time.Unix(-2, 500), time.Unix(-1000000000, 999999999))
	}
	when := times[p.src(len(times), "time")]
	if !p.Can.Nanos {
		when = time.Unix(max(when.Unix(), 315532800)&^1, 0) // FAT: since 1980, in steps of two seconds
	}
	p.must(setTime(p.full(path), when.UnixNano()))
}
