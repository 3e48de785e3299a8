package access

import (
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// TreePaths returns typed paths relative to the tree's root; nil for all of it.
// They are relative to the working directory, or to the root if that is elsewhere.
func (s *Selection) TreePaths(typed ...string) ([]string, error) {
	root, dir := s.Options.Root, s.Command.Dir
	if !within(disk.Physical(root), dir) {
		dir = root
	}
	return app.TreePaths(root, dir, typed)
}

// within reports whether path is root or below it.
func within(root, path string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
}
