package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// openShared opens the -shm file, for writing if that is allowed: an exclusive
// lock needs it. Nothing is written to it. It never waits and follows no link.
func openShared(dir *dirfd.Dir, name string) (f *os.File, writable bool, err error) {
	path := filepath.Join(dir.Path(), name)
	f, err = os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err == nil {
		return f, true, nil
	}
	f, err = dir.OpenFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, errMoved
	case err != nil:
		return nil, false, fmt.Errorf("capture database: %w", err)
	default:
		return f, false, nil
	}
}
