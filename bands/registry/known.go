package registry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// registers reports whether the store in the folder dir was made on this machine. Rows of the
// catalog don't count: every store that a command worked on has one.
func (r *Registry) registers(dir string) bool {
	base, err := r.base()
	if err != nil {
		return false
	}
	dirs, err := r.list().dirs(base)
	dir = disk.Physical(filepath.Clean(dir))
	return err == nil && slices.ContainsFunc(dirs, func(known string) bool { return disk.Physical(known) == dir })
}

// loadEntries returns the stores in the folders, each once, by name. Folders without a store are
// skipped; a store that can't be read is in the joined error.
func loadEntries(dirs []string) ([]Entry, error) {
	var list []Entry
	var bad []error
	seen := map[string]bool{}
	for _, dir := range dirs {
		e, err := loadEntry(dir)
		switch {
		case errors.Is(err, bands.ErrNoStore):
		case err != nil:
			bad = append(bad, fmt.Errorf("store %s: %w", dir, err))
		case !seen[e.ID]:
			seen[e.ID] = true
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Name+"\x00"+a.Dir, b.Name+"\x00"+b.Dir) })
	return list, errors.Join(bad...)
}

// taken returns the names of all stores but the one in dir.
func (m maker) taken(base, dir string) (map[string]bool, error) {
	dirs, err := m.list().dirs(base)
	if err != nil {
		return nil, err
	}
	list, _ := loadEntries(dirs) // an unreadable store counts by its folder's name
	names := map[string]bool{}
	for _, e := range list {
		if e.Dir != dir {
			names[e.Name] = true
		}
	}
	for _, d := range dirs {
		if d != dir && filepath.Dir(d) == base && !isMissing(d) { // a missing one is of an interrupted deletion
			names[filepath.Base(d)] = true
		}
	}
	return names, nil
}

// isNamed reports whether a store's folder is among those of named stores, and not in a repository.
func isNamed(base string, e Entry) bool { return slices.Contains(foldersOf(base), filepath.Dir(e.Dir)) }

// makeFolder creates a folder of the registry, and its parents.
func makeFolder(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	return disk.MkdirAll(dir, 0o700)
}
