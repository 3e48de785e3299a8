package cli

import (
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// treePaths returns typed paths relative to the tree's root; nil for all of it.
// They are relative to the working directory, or to the root if that is elsewhere.
func (s *selection) treePaths(typed ...string) ([]string, error) {
	root, dir := s.options.Root, s.fs.Dir
	if !within(disk.Physical(root), dir) {
		dir = root
	}
	return treePaths(root, dir, typed)
}

// within reports whether path is root or below it.
func within(root, path string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
}

// absolute is a path as an argument, from the working directory.
func (f *fsApp) absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && f.Home != "" { // a shell that didn't
		return filepath.Join(f.Home, rest)
	}
	if at, ok := disk.NewResolver("/", f.Dir).Abs(path); ok {
		return at
	}
	return filepath.Join(f.Dir, path)
}

// pathBytes is a path that JSON can't hold as text; nil for any other.
func pathBytes(path string) []byte {
	if utf8.ValidString(path) {
		return nil
	}
	return []byte(path)
}
