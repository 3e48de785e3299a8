package tree

import (
	"github.com/seed-3aff656d/entire/bands/band"
)

// LoadDir reads a directory; the zero reference is an empty one.
func LoadDir(l Loader, ref band.Ref) (*Directory, error) {
	if ref.IsZero() {
		return &Directory{}, nil
	}
	return l.Directory(ref)
}

func IsDir(e *Entry) bool { return e != nil && e.Kind == Dir }
