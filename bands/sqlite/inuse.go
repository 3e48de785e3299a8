package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// Place is the location of a database.
type Place struct{ Dir, Main string }

// InUse reports whether another process has the database main in the directory dir open, or one of
// its companions. Processes that this one may not inspect are found only by their locks.
func InUse(dir, main string) (bool, error) {
	used, err := Used([]Place{{Dir: dir, Main: main}})
	return len(used) > 0, err
}

// Used is InUse for many databases at the cost of one: it returns those that are in use, in the
// given order. A missing database is not in use.
func Used(places []Place) ([]Place, error) {
	held := make([]bool, len(places))
	files := make([][]proc.FileID, len(places))
	var all []proc.FileID
	for i, at := range places {
		var err error
		if files[i], held[i], err = inspect(at); err != nil {
			return nil, err
		}
		all = append(all, files[i]...)
	}
	var openers map[proc.FileID][]int
	if len(all) > 0 {
		openers, _ = proc.Openers(all...)
	}
	var used []Place
	for i, at := range places {
		for _, id := range files[i] {
			held[i] = held[i] || len(openers[id]) > 0
		}
		if held[i] {
			used = append(used, at)
		}
	}
	return used, nil
}

// inspect returns the files of a database, and whether a process holds a lock on them.
func inspect(at Place) (files []proc.FileID, held bool, err error) {
	dir, err := dirfd.OpenRoot(at.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("find the processes that use %s: %w", at.Main, err)
	}
	defer func() { _ = dir.Close() }()
	also := Companions(at.Main)
	for _, name := range [...]string{at.Main, also[0], also[1], also[2]} {
		st, err := look(dir, name)
		if err != nil {
			return nil, false, err
		}
		if st.Ino == 0 {
			continue
		}
		files = append(files, proc.FileID{Dev: st.Dev, Ino: st.Ino})
		locked, err := anyLock(dir, name, at.Main)
		if err != nil {
			return nil, false, err
		}
		held = held || locked
	}
	return files, held, nil
}

// anyLock reports whether a process holds a lock on the file name of the database main. It returns
// false for a file that can't be read.
func anyLock(dir *dirfd.Dir, name, main string) (bool, error) {
	var start, n int64
	switch name {
	case main:
		start, n = pendingByte, sharedFirst-pendingByte+sharedSize
	case main + sharedSuffix:
		start, n = writeLock, sharedLocks
	default:
		return false, nil
	}
	f, err := dir.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("find the processes that use %s: %w", main, err)
	}
	defer func() { _ = f.Close() }()
	held, err := disk.OFDTest(f, true, start, n)
	if err != nil && !cannotLock(err) {
		return false, fmt.Errorf("find the processes that use %s: %w", main, err)
	}
	return held, nil
}
