package capture

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/btrfs"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// TouchedPaths are paths that may have changed, relative to a directory: files, and directories
// whose attributes or list of entries changed.
type TouchedPaths struct {
	Files []string `json:"files,omitempty"`
	Dirs  []string `json:"dirs,omitempty"`
}

// Add appends other paths.
func (p *TouchedPaths) Add(other TouchedPaths) {
	p.Files, p.Dirs = append(p.Files, other.Files...), append(p.Dirs, other.Dirs...)
}

// TouchedFolder lists the entries of a directory to examine: all of them, or those in Names.
type TouchedFolder struct {
	All   bool
	Names map[string]bool
}

// Has reports whether the entry of that name must be examined.
func (f *TouchedFolder) Has(name string) bool { return f.All || f.Names[name] }

// TouchedFolders are the directories with entries to examine, by path: touched directories, and
// those above touched paths. Nothing needs to be examined in other directories.
type TouchedFolders map[string]*TouchedFolder

// Add adds the directories of the paths.
func (l TouchedFolders) Add(p TouchedPaths) {
	for _, path := range slices.Concat(p.Files, p.Dirs) {
		for path != "" {
			above, name := "", path
			if i := strings.LastIndexByte(path, '/'); i >= 0 {
				above, name = path[:i], path[i+1:]
			}
			l.at(above).Names[name] = true
			path = above
		}
	}
	for _, path := range p.Dirs {
		l.at(path).All = true
	}
}

func (l TouchedFolders) at(path string) *TouchedFolder {
	f := l[path]
	if f == nil {
		f = &TouchedFolder{Names: map[string]bool{}}
		l[path] = f
	}
	return f
}

// treeMoment is a moment of a directory, from which on changes can be queried.
type treeMoment struct {
	// Subvolume is the UUID of the directory's subvolume.
	Subvolume string `json:"subvolume"`
	// Inode is the directory's inode number.
	Inode uint64 `json:"inode"`
	// Transaction is the last completed transaction.
	Transaction uint64 `json:"transaction"`
	// Mounts are the absolute paths below the directory at which something was mounted. The file
	// system doesn't record their changes.
	Mounts []string `json:"mounts,omitempty"`
}

// momentNow returns the present moment of the directory root. The error is btrfs.ErrNotBtrfs or
// fs.ErrPermission if this process can't query changes. Changes after the call are found from
// that moment on, changes before it aren't.
func momentNow(root string) (treeMoment, error) {
	info, err := btrfs.Stat(root)
	if err != nil {
		return treeMoment{}, err
	}
	if strings.Trim(info.UUID, "0") == "" {
		return treeMoment{}, btrfs.ErrNotBtrfs // an old file system, in which the UUID identifies nothing
	}
	if !btrfs.MayAsk(root) {
		return treeMoment{}, fs.ErrPermission
	}
	dir, err := dirfd.OpenRoot(root)
	if err != nil {
		return treeMoment{}, err
	}
	var st dirfd.Stat
	if err := errors.Join(dir.Self(&st), dir.Close()); err != nil {
		return treeMoment{}, err
	}
	m := treeMoment{Subvolume: info.UUID, Inode: st.Ino}
	if m.Transaction, err = btrfs.Commit(root); err != nil {
		return treeMoment{}, err
	}
	m.Mounts, err = disk.MountsIn(root)
	m.Mounts = slices.DeleteFunc(m.Mounts, func(at string) bool { return at == root })
	return m, err
}

// touchedBetween returns the paths that may have changed in root between two moments; false if that
// isn't known: root is another directory or an earlier state, or more than most files changed.
func touchedBetween(root string, from, to treeMoment, most int) (TouchedPaths, bool) {
	if from.Subvolume != to.Subvolume || from.Inode != to.Inode || from.Transaction > to.Transaction {
		return TouchedPaths{}, false
	}
	files, dirs, err := btrfs.Touched(root, from.Transaction, most)
	if err != nil {
		return TouchedPaths{}, false
	}
	for _, at := range slices.Concat(from.Mounts, to.Mounts) {
		if rel, err := filepath.Rel(root, at); err == nil {
			files = append(files, filepath.ToSlash(rel))
		}
	}
	return TouchedPaths{Files: files, Dirs: dirs}, true
}
