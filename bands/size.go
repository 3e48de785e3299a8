package bands

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Size returns the disk space that the store uses, in bytes. A file with several links counts
// once; a reflink of a band counts nothing, as it shares the band's blocks.
func (s *Store) Size() (int64, error) {
	own, err := band.Files(s.BandsDir())
	if err != nil {
		return 0, err
	}
	z := sizer{seen: map[inode]bool{}}
	if s.Linking() == disk.Reflink {
		for _, f := range own {
			z.clones = append(z.clones, f.Name())
		}
	}
	if err := z.dir(s.Dir(), "."); err != nil {
		return 0, err
	}
	return z.sum, nil
}

// QuickSize returns Size without reading every snapshot: most of a store's data is in its bands.
func (s *Store) QuickSize() (int64, error) {
	if s.Linking() == disk.Copy {
		return s.Size()
	}
	versions, err := s.Versions()
	if err != nil {
		return 0, err
	}
	z := sizer{seen: map[inode]bool{}}
	err = errors.Join(z.dir(s.BandsDir(), "."), EachFile(s.Dir(), func(_ string, st dirfd.Stat) error {
		if !st.IsDir() {
			z.sum += st.Blocks * 512
		}
		return nil
	}))
	return z.sum + int64(len(versions))*SnapshotRoom, err
}

// SnapshotRoom is the approximate size of a snapshot without its bands: a folder and a small
// file.
const SnapshotRoom = 8 << 10

// inode identifies a file.
type inode struct{ dev, ino uint64 }

// sizer adds up the sizes of files.
type sizer struct {
	seen   map[inode]bool // of files with several links
	clones []string       // names that aren't counted in a snapshot's folder
	sum    int64
}

func (z *sizer) dir(above, name string) error {
	path := filepath.Join(above, name)
	inSnapshot := filepath.Base(above) == "checkpoints"
	return EachFile(path, func(name string, st dirfd.Stat) error {
		switch {
		case st.IsDir():
			z.sum += st.Blocks * 512
			return z.dir(path, name)
		case inSnapshot && slices.Contains(z.clones, name):
		case st.Nlink < 2:
			z.sum += st.Blocks * 512
		case !z.seen[inode{st.Dev, st.Ino}]:
			z.seen[inode{st.Dev, st.Ino}] = true
			z.sum += st.Blocks * 512
		}
		return nil
	})
}

// EachFile visits the entries of a folder. Entries removed meanwhile are skipped.
func EachFile(path string, visit func(name string, st dirfd.Stat) error) (err error) {
	dir, err := dirfd.OpenRoot(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	var names []string
	err = dir.Names(make([]byte, 16<<10), func(name []byte, _ byte) error {
		names = append(names, string(name))
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		var st dirfd.Stat
		if err := dir.Stat(name, &st); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		if err := visit(name, st); err != nil {
			return err
		}
	}
	return nil
}

// LinkCount returns the number of links to the file.
func LinkCount(info fs.FileInfo) uint64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(stat.Nlink) //nolint:unconvert // 16 or 32 bits on some systems
}
