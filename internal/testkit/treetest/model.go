package treetest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// Kind is the kind of a path.
type Kind string

// The kinds of paths.
const (
	File    Kind = "file"
	Dir     Kind = "directory"
	Symlink Kind = "symlink"
	FIFO    Kind = "fifo"
	Socket  Kind = "socket"
	Device  Kind = "device"
)

// Held reports whether a snapshot holds such a path; it only records that others exist.
func (k Kind) Held() bool { return k == File || k == Dir || k == Symlink }

// Node has all metadata of a path.
type Node struct {
	Kind     Kind
	Mode     uint32 // 07777
	UID, GID uint32
	Mtime    int64  // in nanoseconds since 1970
	Size     int64  // of a file
	Hash     string // of a file's bytes, holes read as zeros
	Target   string // of a symlink
	Xattrs   map[string]string
	// Link is the first path of the same file, "" if the file has one name.
	Link string
	// Data are the parts of a file that aren't holes, "" for a file without holes.
	Data string
}

// Model is a tree: nodes by slash-separated path, the root as ".".
type Model map[string]Node

// Read reads the tree at root, except for the paths in skip and everything below them.
func Read(tb testkit.TB, root string, skip ...string) Model {
	tb.Helper()
	r := reader{model: Model{}, names: map[inode][]string{}, buf: make([]byte, 1<<16)}
	if err := r.walk(root, ".", skip); err != nil {
		tb.Fatalf("read %s: %v", root, err)
	}
	for _, paths := range r.names {
		if len(paths) < 2 { //nolint:mnd // one name is no group
			continue
		}
		slices.Sort(paths)
		for _, path := range paths {
			node := r.model[path]
			node.Link = paths[0]
			r.model[path] = node
		}
	}
	return r.model
}

// Relink recomputes the hard links after paths were removed from m.
func (m Model) Relink() {
	groups := map[string][]string{}
	for _, path := range m.Paths() {
		if link := m[path].Link; link != "" {
			groups[link] = append(groups[link], path)
		}
	}
	for _, paths := range groups {
		for _, path := range paths {
			node := m[path]
			node.Link = paths[0]
			if len(paths) == 1 {
				node.Link = ""
			}
			m[path] = node
		}
	}
}

type inode struct{ dev, ino uint64 }

type reader struct {
	model Model
	names map[inode][]string
	buf   []byte
}

func (r *reader) walk(root, path string, skip []string) error {
	full := filepath.Join(root, path)
	var st unix.Stat_t
	if err := unix.Lstat(full, &st); err != nil {
		return fmt.Errorf("stat %q: %w", path, err)
	}
	node, err := r.node(full, &st)
	if err != nil {
		return fmt.Errorf("%q: %w", path, err)
	}
	r.model[path] = node
	if node.Kind == File && st.Nlink > 1 {
		at := inode{uint64(st.Dev), st.Ino} //nolint:unconvert // signed on darwin
		r.names[at] = append(r.names[at], path)
	}
	if node.Kind != Dir {
		return nil
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		below := join(path, entry.Name())
		if slices.Contains(skip, below) {
			continue
		}
		if err := r.walk(root, below, skip); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) node(full string, st *unix.Stat_t) (Node, error) {
	node := Node{
		Kind: kindOf(uint32(st.Mode)), Mode: uint32(st.Mode) & 0o7777, //nolint:unconvert,mnd // 16 bits on darwin
		UID: st.Uid, GID: st.Gid, Mtime: mtime(st),
	}
	var err error
	switch node.Kind {
	case File:
		node.Size = st.Size
		if node.Hash, err = r.hash(full); err != nil {
			return node, err
		}
		if st.Size > block { // holes save nothing in a single block
			node.Data, err = dataOf(full, st.Size)
		}
	case Symlink:
		node.Target, err = os.Readlink(full)
	default:
	}
	if err == nil && node.Kind.Held() {
		node.Xattrs, err = xattrs(full)
	}
	return node, err
}

func kindOf(mode uint32) Kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return File
	case unix.S_IFDIR:
		return Dir
	case unix.S_IFLNK:
		return Symlink
	case unix.S_IFIFO:
		return FIFO
	case unix.S_IFSOCK:
		return Socket
	default:
		return Device
	}
}

func (r *reader) hash(full string) (string, error) {
	f, err := os.Open(full)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	if _, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f}, r.buf); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Paths returns the sorted paths.
func (m Model) Paths() []string { return slices.Sorted(maps.Keys(m)) }

// Without returns the model without the paths and everything below them.
func (m Model) Without(paths ...string) Model {
	rest := Model{}
	for path, node := range m {
		if !slices.ContainsFunc(paths, func(p string) bool { return under(path, p) }) {
			rest[path] = node
		}
	}
	return rest
}

// Diff returns the differences of got from want, "" for none. Of the directories in loose only the
// kind is compared.
func Diff(want, got Model, loose ...string) string {
	const most = 20
	var lines []string
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, path := range all.Paths() {
		w, wanted := want[path]
		g, there := got[path]
		switch {
		case !there:
			lines = append(lines, fmt.Sprintf("%q is missing: a %s", path, w.Kind))
		case !wanted:
			lines = append(lines, fmt.Sprintf("%q is there: a %s", path, g.Kind))
		case slices.Contains(loose, path) && w.Kind == g.Kind:
		default:
			if diff := cmp.Diff(w, g); diff != "" {
				lines = append(lines, fmt.Sprintf("%q (-want +got):\n%s", path, diff))
			}
		}
	}
	if len(lines) > most {
		lines = append(lines[:most], fmt.Sprintf("and %d more", len(lines)-most))
	}
	return strings.Join(lines, "\n")
}

// under reports whether the path is dir or below it.
func under(path, dir string) bool {
	return dir == "." || path == dir || strings.HasPrefix(path, dir+"/")
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// parent is the directory of a path, "." for the root's entries.
func parent(path string) string {
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return "."
	}
	return path[:at]
}
