package tree

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/seed-3aff656d/entire/bands/band"
)

func IsDamaged(err error) bool {
	return errors.Is(err, band.ErrDamaged) || errors.Is(err, ErrBad) || errors.Is(err, fs.ErrNotExist)
}

// ShownPath is the root as ".".
func ShownPath(path string) string {
	if path == "" {
		return "."
	}
	return path
}

func BasePath(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
