package cli

import (
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// rootPaths are paths as the user gave them, relative to the tree's root.
func (f *fsApp) rootPaths(s *selection, paths []string) ([]string, error) {
	clean := make([]string, 0, len(paths))
	for _, path := range paths {
		name, err := f.rootPath(s, path)
		if err != nil {
			return nil, err
		}
		if name == "." {
			return nil, nil // everything
		}
		clean = append(clean, name)
	}
	return clean, nil
}

// rootPath is one path relative to the tree's root. It is taken relative to
// the working directory, or to the root where that isn't inside.
func (f *fsApp) rootPath(s *selection, path string) (string, error) {
	if path == "" {
		return "", usagef("an empty path")
	}
	at := filepath.Clean(path)
	if !filepath.IsAbs(at) {
		base := s.options.Root
		if within(base, f.Dir) {
			base = f.Dir
		}
		at = filepath.Join(base, at)
	}
	name, err := filepath.Rel(s.options.Root, at)
	if err != nil || name == ".." || strings.HasPrefix(name, ".."+string(filepath.Separator)) {
		return "", usagef("%s is outside of %s", path, s.options.Root)
	}
	return filepath.ToSlash(name), nil
}

// within says whether path is root or below it.
func within(root, path string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator))
}

// absolute is a path as an argument, from the working directory.
func (f *fsApp) absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && f.Home != "" { // a shell that didn't
		return filepath.Join(f.Home, rest)
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
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
