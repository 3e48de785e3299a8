package disk

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

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
