package main

import (
	"bytes"
	"crypto/sha256"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// modelFile is a file, a directory or a symbolic link, independent of its names.
type modelFile struct {
	kind   fs.FileMode // of the type
	perm   fs.FileMode // counts as durable: strace doesn't report all calls that change it
	data   []byte      // as seen by a process
	link   string
	synced []byte // certainly on the disk
	dirty  bool   // data may differ from synced
}

// change is one change of a name. It is certainly on the disk once its directory was synced;
// before that it may be there or not, independently of the changes before and after it.
type change struct {
	path string
	file *modelFile // nil: the name is removed
	// pair is a number shared by changes that reach the disk together or not at all: a rename
	// within a directory.
	pair int
	done bool // durable
}

// model holds the files below a directory, and which of their changes a power cut may lose.
type model struct {
	root    string
	base    map[string]*modelFile // by path, before anything happened
	now     map[string]*modelFile
	changes []change
	pairs   int
}

// readModel reads the current files, all of them durable.
func readModel(t *testing.T, root string) *model {
	t.Helper()
	m := &model{root: root, base: map[string]*modelFile{}, now: map[string]*modelFile{}}
	inodes := map[uint64]*modelFile{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		f := &modelFile{kind: info.Mode().Type(), perm: info.Mode().Perm()}
		stat, ok := info.Sys().(*syscall.Stat_t)
		switch {
		case ok && f.kind.IsRegular() && inodes[stat.Ino] != nil:
			f = inodes[stat.Ino]
		case f.kind.IsRegular():
			if f.data, err = os.ReadFile(path); err != nil {
				return err
			}
			f.synced = f.data
			if ok {
				inodes[stat.Ino] = f
			}
		case f.kind&fs.ModeSymlink != 0:
			f.link, err = os.Readlink(path)
		}
		m.base[path] = f
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	m.now = maps.Clone(m.base)
	return m
}

func (m *model) inside(path string) bool { return strings.HasPrefix(path, m.root+"/") }

// name records a change of a name.
func (m *model) name(path string, f *modelFile, pair int, durable bool) {
	if f == nil {
		delete(m.now, path)
	} else {
		m.now[path] = f
	}
	m.changes = append(m.changes, change{path: path, file: f, pair: pair, done: durable})
}

// apply applies an operation of a process.
func (m *model) apply(op fsOp) {
	durable := !op.ours
	switch op.kind {
	case "open":
		f := m.now[op.path]
		if f == nil && m.inside(op.path) {
			m.name(op.path, &modelFile{perm: op.perm}, 0, durable)
		} else if f != nil && op.fresh {
			m.write(f, nil, durable)
		}
	case "write", "truncate":
		f := m.now[op.path]
		if f == nil {
			return
		}
		at, data := op.at, slices.Clone(f.data)
		if at < 0 {
			at = int64(len(data))
		}
		end := max(at+int64(len(op.data)), int64(len(data)))
		if op.kind == "truncate" {
			end = at
		}
		for int64(len(data)) < end {
			data = append(data, 0)
		}
		data = data[:end]
		copy(data[min(at, end):], op.data)
		m.write(f, data, durable)
	case "copy":
		if from, to := m.now[op.path], m.now[op.to]; from != nil && to != nil {
			m.write(to, slices.Clone(from.data), durable)
		}
	case "mkdir":
		if m.inside(op.path) {
			m.name(op.path, &modelFile{kind: fs.ModeDir, perm: op.perm}, 0, durable)
		}
	case "symlink":
		if m.inside(op.path) {
			m.name(op.path, &modelFile{kind: fs.ModeSymlink, link: string(op.data)}, 0, durable)
		}
	case "link":
		if f := m.now[op.path]; f != nil && m.inside(op.to) {
			m.name(op.to, f, 0, durable)
		}
	case "unlink":
		if m.now[op.path] != nil {
			m.name(op.path, nil, 0, durable)
		}
	case "chmod":
		if f := m.now[op.path]; f != nil {
			f.perm = op.perm
		}
	case "exchange":
		if from, to := m.now[op.path], m.now[op.to]; from != nil && to != nil {
			m.pairs++
			m.name(op.to, from, m.pairs, durable)
			m.name(op.path, to, m.pairs, durable)
		}
	case "rename":
		m.rename(op.path, op.to, durable)
	case "sync":
		m.sync(op.path)
	case "syncfs":
		for i := range m.changes {
			m.changes[i].done = true
		}
		for _, f := range m.now {
			f.synced, f.dirty = f.data, false
		}
	}
}

func (m *model) write(f *modelFile, data []byte, durable bool) {
	f.data, f.dirty = data, true
	if durable {
		f.synced, f.dirty = data, false
	}
}

// rename moves a file, or a directory with everything in it.
func (m *model) rename(from, to string, durable bool) {
	f := m.now[from]
	if f == nil || !m.inside(to) {
		return
	}
	pair := 0
	if filepath.Dir(from) == filepath.Dir(to) || f.kind.IsDir() { // its entries move with it
		m.pairs++
		pair = m.pairs
	}
	m.name(to, f, pair, durable)
	m.name(from, nil, pair, durable)
	if !f.kind.IsDir() {
		return
	}
	for path, below := range maps.Clone(m.now) {
		if rest, ok := strings.CutPrefix(path, from+"/"); ok { // these move with the directory's own name
			delete(m.now, path)
			m.now[to+"/"+rest] = below
			for i := range m.changes {
				if m.changes[i].path == path {
					m.changes[i].path = to + "/" + rest
				}
			}
			if m.base[path] == below {
				m.changes = append(m.changes, change{path: path, pair: pair, done: durable}, change{path: to + "/" + rest, file: below, pair: pair, done: durable})
			}
		}
	}
}

// sync makes a file's content durable, or the names in a directory.
func (m *model) sync(path string) {
	if f := m.now[path]; f != nil && f.kind.IsRegular() {
		f.synced, f.dirty = f.data, false
		return
	}
	done := map[int]bool{}
	for i, c := range m.changes {
		if filepath.Dir(c.path) == path {
			m.changes[i].done = true
			done[c.pair] = true
		}
	}
	for i, c := range m.changes {
		if c.pair != 0 && done[c.pair] {
			m.changes[i].done = true
		}
	}
}

// content is the state of a file's content after a power cut.
type content int

const (
	whole  content = iota // everything written
	lost                  // the synced content, or nothing
	zeroed                // the size, and zeros for unsynced data
	half                  // a part of the unsynced data
)

// tree is the state after a power cut: files by path.
type tree map[string]*modelFile

// leftover is such a tree, and a description of it.
type leftover struct {
	tree
	how string
}

// left returns the tree with the durable names and with those others for which keep returns
// true. how is the state of the contents.
func (m *model) left(keep func(i int) bool, how content) tree {
	names := maps.Clone(m.base)
	for i, c := range m.changes {
		if !c.done && !keep(i) {
			continue
		}
		if c.file == nil {
			delete(names, c.path)
		} else {
			names[c.path] = c.file
		}
	}
	out := tree{}
	contents := map[*modelFile]*modelFile{}
	for path, f := range names {
		for dir := filepath.Dir(path); dir != m.root; dir = filepath.Dir(dir) {
			if names[dir] == nil { // in a directory that doesn't exist
				f = nil
				break
			}
		}
		if f == nil {
			continue
		}
		if contents[f] == nil {
			contents[f] = f.after(how)
		}
		out[path] = contents[f]
	}
	return out
}

func (f *modelFile) after(how content) *modelFile {
	g := *f
	if !f.dirty {
		return &g
	}
	switch how {
	case whole:
	case lost:
		g.data = f.synced
	case zeroed:
		g.data = append(slices.Clone(f.synced), make([]byte, max(0, len(f.data)-len(f.synced)))...)
	case half:
		from := 0
		if bytes.HasPrefix(f.data, f.synced) { // synced data that was not written again stays
			from = len(f.synced)
		}
		g.data = f.data[:from+(len(f.data)-from)/2]
	}
	return &g
}

// leftovers returns the trees that a power cut may leave now: with all or none of the changes
// that aren't durable, and with each change of a name alone or alone missing.
func (m *model) leftovers() []leftover {
	all, none := func(int) bool { return true }, func(int) bool { return false }
	list := []leftover{
		{m.left(none, lost), "what was synced"},
		{m.left(none, zeroed), "what was synced, zeros behind it"},
		{m.left(all, lost), "all names, and the contents that were synced"},
		{m.left(all, zeroed), "all names, zeros for contents"},
		{m.left(all, half), "all names, half of the contents"},
		{m.left(all, whole), "everything"},
	}
	for i, c := range m.changes {
		if c.done {
			continue
		}
		same := func(j int) bool { return j == i || c.pair != 0 && m.changes[j].pair == c.pair }
		what := strings.TrimPrefix(c.path, m.root)
		if c.file == nil {
			what = "without " + what
		}
		list = append(list, leftover{m.left(same, lost), "of the names only " + what},
			leftover{m.left(func(j int) bool { return !same(j) }, lost), "all names but " + what})
	}
	return list
}

// sums caches the hashes of contents, which are never changed in place.
type sums map[*byte]struct {
	data []byte
	sum  [sha256.Size]byte
}

func (s sums) of(data []byte) [sha256.Size]byte {
	if len(data) == 0 {
		return sha256.Sum256(nil)
	}
	known, ok := s[&data[0]]
	if !ok || len(known.data) != len(data) {
		known.data, known.sum = data, sha256.Sum256(data)
		s[&data[0]] = known
	}
	return known.sum
}

// key identifies a tree.
func (t tree) key(s sums) [sha256.Size]byte {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(t)) {
		f := t[path]
		sum := s.of(f.data)
		_, _ = io.WriteString(h, path+"\x00"+f.link+"\x00"+f.kind.String())
		_, _ = h.Write(sum[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// put makes the files below root equal to the tree. Files that are already equal are left
// alone, so that they keep their times.
func (t tree) put(tb testing.TB, root string) {
	tb.Helper()
	fail := func(err error) {
		if err != nil {
			tb.Helper()
			tb.Fatal(err)
		}
	}
	var gone []string
	fail(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if want := t[path]; err == nil && path != root && (want == nil || want.kind != entry.Type()) {
			gone = append(gone, path)
			if entry.IsDir() {
				return filepath.SkipDir
			}
		}
		return err
	}))
	for _, path := range gone {
		fail(os.RemoveAll(path))
	}
	first := map[*modelFile]string{}
	for _, path := range slices.Sorted(maps.Keys(t)) {
		f := t[path]
		switch {
		case f.kind.IsDir():
			fail(os.MkdirAll(path, f.perm|0o700))
		case f.kind&fs.ModeSymlink != 0:
			if now, err := os.Readlink(path); err != nil || now != f.link {
				_ = os.Remove(path)
				fail(os.Symlink(f.link, path))
			}
		case f.kind.IsRegular():
			other := first[f]
			if other == "" {
				first[f] = path
			}
			if now, err := os.ReadFile(path); err == nil && string(now) == string(f.data) {
				fail(os.Chmod(path, f.perm))
				continue
			}
			_ = os.Remove(path)
			if other != "" {
				fail(os.Link(other, path))
				continue
			}
			fail(os.WriteFile(path, f.data, 0o600))
			fail(os.Chmod(path, f.perm))
			if strings.HasSuffix(path, ".lock") { // the machine takes a while to start
				old := time.Now().Add(-time.Hour)
				fail(os.Chtimes(path, old, old))
			}
		}
	}
}
