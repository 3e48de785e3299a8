package treetest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// Tree is a working tree that is changed at random.
type Tree struct {
	Root string
	Can  Abilities
	// Large allows files of several MiB.
	Large bool
	// Plain excludes paths that a snapshot doesn't hold: sockets and fifos.
	Plain bool
	tb    testkit.TB
	src   Source
}

// New returns a tree in the directory root, which must exist.
func New(tb testkit.TB, root string, src Source) *Tree {
	tb.Helper()
	return &Tree{Root: root, Can: Probe(tb, root), tb: tb, src: src}
}

// Read reads the tree.
func (t *Tree) Read(skip ...string) Model {
	t.tb.Helper()
	return Read(t.tb, t.Root, skip...)
}

// Loosen gives the owner all permissions on the directories, so that they can be removed.
func Loosen(root string) {
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o755) //nolint:gosec // to be removed
		}
		return nil
	})
}

// listing has the present paths.
type listing struct {
	all, dirs, files []string // dirs include the root
}

func (t *Tree) list() listing {
	t.tb.Helper()
	var l listing
	err := filepath.WalkDir(t.Root, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path, err := filepath.Rel(t.Root, full)
		if err != nil {
			return err
		}
		if path != "." {
			l.all = append(l.all, path)
		}
		if entry.IsDir() {
			l.dirs = append(l.dirs, path)
		}
		if entry.Type().IsRegular() {
			l.files = append(l.files, path)
		}
		return nil
	})
	t.must(err)
	return l
}

func (t *Tree) pick(list []string, what string) (string, bool) {
	if len(list) == 0 {
		return "", false
	}
	return list[t.src(len(list), what)], true
}

func (t *Tree) full(path string) string { return filepath.Join(t.Root, path) }

// must fails the test on an error, unless a name is too long.
func (t *Tree) must(err error) {
	t.tb.Helper()
	if err != nil && !errors.Is(err, unix.ENAMETOOLONG) {
		t.tb.Fatalf("tree: %v", err)
	}
}

// writable makes the directory of a path writable for an owner who isn't root.
func (t *Tree) writable(path string) {
	dir := t.full(parent(path))
	if info, err := os.Lstat(dir); err == nil && info.Mode()&0o300 != 0o300 && os.Geteuid() != 0 {
		t.must(os.Chmod(dir, info.Mode()|0o700))
	}
}

// allow makes a file readable and writable for an owner who isn't root.
func (t *Tree) allow(path string) {
	if info, err := os.Lstat(t.full(path)); err == nil && info.Mode()&0o600 != 0o600 && os.Geteuid() != 0 {
		t.must(os.Chmod(t.full(path), info.Mode()|0o600))
	}
}

// free returns a new path in a random directory.
func (t *Tree) free() (string, bool) {
	dirs := t.list().dirs
	dir, _ := t.pick(dirs, "directory")
	path := join(dir, t.name())
	if _, err := os.Lstat(t.full(path)); err == nil {
		return "", false
	}
	if len(t.full(path)) > 3000 { //nolint:mnd // far from what a system takes
		return "", false
	}
	t.writable(path)
	return path, true
}

// name returns a file name, mostly one of a few, so that names recur.
func (t *Tree) name() string {
	names := []string{
		"a", "b", "c", "main.go", "data.db", "data.db-wal", "data.db-journal", "lib", ".env", "node_modules",
		"with space", "-rf", "..c", ".a.swp", "tail ~", "Ünï", "日本", "a,b;c$d", "%20", "'quoted'", "#x", "[ab]{c}", "bands", "checkpoints",
	}
	if t.Can.AnyBytes {
		names = append(names,
			"\xff\xfe", "new\nline", "tab\there", "back\\slash", "st*r?", "\x01", "e\u0301", "\"", "tail ", "tail.", "\xc3(")
	}
	n := t.src(len(names)+1, "name")
	if n == len(names) {
		return longName(t.src(10, "letter")) //nolint:mnd // a few
	}
	return names[n]
}

func longName(n int) string {
	const most = 255
	name := make([]byte, most)
	for i := range name {
		name[i] = byte('a' + n)
	}
	return string(name)
}
