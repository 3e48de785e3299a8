package bands

import (
	"strings"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// HeadBelow returns the beginning of the file path below root, nil if it can't be read.
func HeadBelow(root, path string) []byte {
	dir, err := OpenBelow(root, band.ParentPath(path))
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	f, err := dir.OpenFile(band.BasePath(path))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, headLength)
	n, err := f.ReadAt(head, 0)
	if n < headLength && err != nil {
		return nil
	}
	return head
}

// headLength is the length of the beginning of a file that identifies a database.
const headLength = 16

// OpenBelow opens a directory below root without following symbolic links.
func OpenBelow(root, path string) (*dirfd.Dir, error) {
	dir, err := dirfd.OpenRoot(root)
	if err != nil || path == "" {
		return dir, err
	}
	for name := range strings.SplitSeq(path, "/") {
		next, err := dir.Open(name)
		_ = dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}
