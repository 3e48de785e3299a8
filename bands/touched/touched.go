// Package touched finds what may have changed in a directory since an earlier moment, where the
// file system records that, so that nothing else needs to be examined. Btrfs does; it lets only
// root ask.
package touched

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

// Paths are what may have changed, as paths from a directory: files, and directories of which the
// attributes or the list of entries were changed.
type Paths struct {
	Files []string `json:"files,omitempty"`
	Dirs  []string `json:"dirs,omitempty"`
}

// Add adds other paths.
func (p *Paths) Add(other Paths) {
	p.Files, p.Dirs = append(p.Files, other.Files...), append(p.Dirs, other.Dirs...)
}

// Folder is what has to be examined of a directory: all of its entries, or those of these names.
type Folder struct {
	All   bool
	Names map[string]bool
}

// Has reports whether the entry of that name has to be examined.
func (f *Folder) Has(name string) bool { return f.All || f.Names[name] }

// Folders are the directories in which something has to be examined, by their paths: those that were
// touched, and those above what was touched. Nothing has to be in the others.
type Folders map[string]*Folder

// Add adds the directories of paths.
func (l Folders) Add(p Paths) {
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

func (l Folders) at(path string) *Folder {
	f := l[path]
	if f == nil {
		f = &Folder{Names: map[string]bool{}}
		l[path] = f
	}
	return f
}

// Moment is a moment of a directory from which on the file system's record is read.
type Moment struct {
	// Subvolume is the UUID of the one that the directory is in.
	Subvolume string `json:"subvolume"`
	// Inode is the directory's number.
	Inode uint64 `json:"inode"`
	// Transaction is the last one that had ended.
	Transaction uint64 `json:"transaction"`
	// Mounts are the absolute paths below the directory at which something was mounted. No
	// record has them.
	Mounts []string `json:"mounts,omitempty"`
}

// Now returns the present moment of the directory root. The error is btrfs.ErrNotBtrfs or
// fs.ErrPermission where there is no record that this process may read. What is changed after
// the call will be found from that moment on, what was changed before won't.
func Now(root string) (Moment, error) {
	info, err := btrfs.Stat(root)
	if err != nil {
		return Moment{}, err
	}
	if strings.Trim(info.UUID, "0") == "" {
		return Moment{}, btrfs.ErrNotBtrfs // an old file system, in which the UUID identifies nothing
	}
	if !btrfs.MayAsk(root) {
		return Moment{}, fs.ErrPermission
	}
	dir, err := dirfd.OpenRoot(root)
	if err != nil {
		return Moment{}, err
	}
	var st dirfd.Stat
	if err := errors.Join(dir.Self(&st), dir.Close()); err != nil {
		return Moment{}, err
	}
	m := Moment{Subvolume: info.UUID, Inode: st.Ino}
	if m.Transaction, err = btrfs.Commit(root); err != nil {
		return Moment{}, err
	}
	m.Mounts, err = disk.MountsIn(root)
	m.Mounts = slices.DeleteFunc(m.Mounts, func(at string) bool { return at == root })
	return m, err
}

// Between returns what may have changed in root from one moment to another; false if that isn't
// known: it is another directory, an earlier state of it, or more than most files.
func Between(root string, from, to Moment, most int) (Paths, bool) {
	if from.Subvolume != to.Subvolume || from.Inode != to.Inode || from.Transaction > to.Transaction {
		return Paths{}, false
	}
	files, dirs, err := btrfs.Touched(root, from.Transaction, most)
	if err != nil {
		return Paths{}, false
	}
	for _, at := range slices.Concat(from.Mounts, to.Mounts) {
		if rel, err := filepath.Rel(root, at); err == nil {
			files = append(files, filepath.ToSlash(rel))
		}
	}
	return Paths{Files: files, Dirs: dirs}, true
}
