package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// storeList is the file with the folders of all stores that were made, one JSON string a line. It
// is the only record of stores in repositories if the catalog is lost. An empty path is no file.
type storeList struct{ path string }

func (r *Registry) list() storeList {
	if r.Home == "" {
		return storeList{}
	}
	return storeList{filepath.Join(r.Home, "stores.list")}
}

// read returns the folders in the list, each once. It skips lines that can't be parsed: a crash may
// have truncated the last one.
func (l storeList) read() ([]string, error) {
	if l.path == "" {
		return nil, nil
	}
	data, err := disk.ReadFile(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var dirs []string
	for line := range bytes.Lines(data) {
		var dir string
		if json.Unmarshal(line, &dir) == nil && filepath.IsAbs(dir) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// add adds dir to the list. The caller holds the registry's lock.
func (l storeList) add(dir string) error {
	if l.path == "" {
		return nil
	}
	dirs, err := l.read()
	if err != nil || slices.Contains(dirs, dir) {
		return err
	}
	return l.write(append(dirs, dir))
}

// remove removes folders from the list. The caller holds the registry's lock.
func (l storeList) remove(gone ...string) error {
	dirs, err := l.read()
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return slices.Contains(gone, dir) })
	if len(left) == len(dirs) {
		return nil
	}
	return l.write(left)
}

// foldersOf returns the folders that contain named stores: base, and that of the pool.
func foldersOf(base string) []string {
	return []string{base, volume.StoreDir(base, volume.PoolDriver, "")}
}

func (l storeList) write(dirs []string) error {
	var text []byte
	for _, dir := range dirs {
		line, err := json.Marshal(dir)
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	return disk.WriteDurable(l.path, text, 0o600)
}

// dirs returns the folders that may have stores: those in the list, and all below base and in the
// pool.
func (l storeList) dirs(base string) ([]string, error) {
	dirs, err := l.read()
	if err != nil {
		return nil, err
	}
	if base == "" {
		return dirs, nil
	}
	for _, folder := range foldersOf(base) {
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			dir := filepath.Join(folder, e.Name())
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains(dirs, dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs, nil
}
