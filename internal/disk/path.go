package disk

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// Resolver converts paths given by users and programs to paths below a directory. It compares
// physical paths: the working directory may be the shell's $PWD, which can contain symbolic links,
// while the root contains none.
type Resolver struct {
	root, dir string

	mu    sync.Mutex // guards known
	known map[string]string
}

// NewResolver returns a resolver of paths below root. Relative paths start from dir and are
// resolved as by the kernel: "link/.." is the parent of the target of link. Both are absolute; an
// empty dir means that there is no working directory.
func NewResolver(root, dir string) *Resolver {
	return &Resolver{root: Physical(root), dir: dir, known: make(map[string]string)}
}

// Rel returns the slash path of a path below the root, "." for the root itself. Symbolic links in
// the path's directory are followed, but not the last element: a link in the tree is a path of its
// own. Neither has to exist. It returns false for a path outside of the root, and for a relative
// one without a working directory.
func (r *Resolver) Rel(path string) (string, bool) {
	if path == "" || strings.IndexByte(path, 0) >= 0 {
		return "", false
	}
	at, ok := r.Abs(path)
	if !ok {
		return "", false
	}
	rel, ok := r.below(at)
	if !ok { // a link from outside may lead inside
		rel, ok = r.below(r.physical(at))
	}
	return rel, ok
}

func (r *Resolver) below(path string) (string, bool) {
	rel, err := filepath.Rel(r.root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Abs returns the absolute path, resolved as in Rel.
func (r *Resolver) Abs(path string) (string, bool) {
	if !filepath.IsAbs(path) {
		if r.dir == "" {
			return "", false
		}
		path = r.dir + string(filepath.Separator) + path // not Join, which drops "link/.."
	}
	path = trimSlashes(path)
	dir, base := filepath.Split(path)
	if base == "." || base == ".." {
		return r.physical(path), true
	}
	return filepath.Join(r.physical(dir), base), true
}

// Physical resolves the symbolic links in the existing part of an absolute path.
func Physical(path string) string {
	return (&Resolver{}).physical(path)
}

func (r *Resolver) physical(dir string) string {
	r.mu.Lock()
	known, ok := r.known[dir]
	r.mu.Unlock()
	if ok {
		return known
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil { // missing, or a dangling link
		parent, base := filepath.Split(trimSlashes(dir))
		if base == "" {
			return filepath.Clean(dir) // the root of the file system
		}
		return filepath.Join(r.physical(parent), base)
	}
	r.mu.Lock()
	if r.known != nil {
		r.known[dir] = resolved
	}
	r.mu.Unlock()
	return resolved
}

// trimSlashes removes trailing separators, except for the root's own.
func trimSlashes(path string) string {
	for len(path) > 1 && os.IsPathSeparator(path[len(path)-1]) {
		path = path[:len(path)-1]
	}
	return path
}

// Glob returns the sorted paths below dir whose elements match the patterns, which have the syntax of
// [path.Match]. Unlike [filepath.Glob] it takes the characters of dir literally, so that a
// directory may be called [a]. Directories that can't be read match nothing. The patterns are
// constants; a malformed one matches nothing.
func Glob(dir string, patterns ...string) []string {
	found, err := fs.Glob(os.DirFS(dir), path.Join(patterns...))
	if err != nil {
		return nil
	}
	for i, name := range found {
		found[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return found
}
