//go:build !unix

package sqlite

import (
	"os"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

func openShared(dir *dirfd.Dir, name string) (f *os.File, writable bool, err error) {
	f, err = dir.OpenFile(name)
	return f, false, err
}
