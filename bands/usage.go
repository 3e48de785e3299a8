package bands

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// SnapshotUsage is what one snapshot takes.
type SnapshotUsage struct {
	Version Version `json:"version"`
	// Own is how many bytes of the bands no other snapshot needs, Total how
	// many bytes its files have.
	Own   int64 `json:"own"`
	Total int64 `json:"total"`
}

// Usage is what a store takes.
type Usage struct {
	Snapshots []SnapshotUsage `json:"snapshots"` // ascending
	// Live is how many bytes of the bands some snapshot needs, Size how many
	// bytes of the disk the store takes.
	Live int64 `json:"live"`
	Size int64 `json:"size"`
}

// Usage measures all snapshots in one pass over what they share. What can't be
// read is in the joined error and counts nothing.
func (s *Store) Usage(ctx context.Context) (Usage, error) {
	snaps, bad := s.Snapshots()
	l := newLedger(s, countSharing)
	defer l.close()
	u := Usage{Snapshots: make([]SnapshotUsage, len(snaps))}
	for i, snap := range snaps {
		u.Snapshots[i] = SnapshotUsage{Version: snap.Version, Total: snap.Totals.Bytes}
		if _, err := l.add(ctx, snap); err != nil {
			return Usage{}, err
		}
	}
	for _, r := range l.records {
		u.Live += r.stored
		if r.holder != shared {
			u.Snapshots[r.holder].Own += r.stored
		}
	}
	size, err := s.Size()
	u.Size = size
	return u, errors.Join(bad, l.damage(), err)
}

// Size is how many bytes of the disk the store takes. A file counts once, by
// however many names it is linked; a reflink of a band counts nothing, as it
// shares its room with it.
func (s *Store) Size() (int64, error) {
	own, err := bandNames(s.BandsDir())
	if err != nil {
		return 0, err
	}
	z := sizer{seen: map[inode]bool{}}
	if s.Linking() == disk.Reflink {
		z.clones = own
	}
	if err := z.dir(s.Dir(), "."); err != nil {
		return 0, err
	}
	return z.sum, nil
}

// quickSize is Size without a look at every snapshot: most of what a store
// takes is in its bands.
func (s *Store) quickSize() (int64, error) {
	if s.Linking() == disk.Copy {
		return s.Size()
	}
	versions, err := s.Versions()
	if err != nil {
		return 0, err
	}
	z := sizer{seen: map[inode]bool{}}
	err = errors.Join(z.dir(s.BandsDir(), "."), z.files(s.dir))
	return z.sum + int64(len(versions))*snapshotRoom, err
}

// snapshotRoom is about what a snapshot takes beside the bands: a folder and a
// small file.
const snapshotRoom = 8 << 10

// inode tells files apart.
type inode struct{ dev, ino uint64 }

// sizer adds up files.
type sizer struct {
	seen   map[inode]bool // of files with several names
	clones []string       // names that count nothing in a snapshot's folder
	sum    int64
}

func (z *sizer) dir(above, name string) error {
	path := filepath.Join(above, name)
	inSnapshot := filepath.Base(above) == "checkpoints"
	return eachFile(path, func(name string, st dirfd.Stat) error {
		switch {
		case st.Mode&modeType == modeDir:
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

// files adds what is in a folder itself.
func (z *sizer) files(path string) error {
	return eachFile(path, func(_ string, st dirfd.Stat) error {
		if st.Mode&modeType != modeDir {
			z.sum += st.Blocks * 512
		}
		return nil
	})
}

const (
	modeType = 0o170000
	modeDir  = 0o040000
)

// eachFile visits what is in a folder. What goes away meanwhile is passed over.
func eachFile(path string, visit func(name string, st dirfd.Stat) error) (err error) {
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

// bandNames are the names of the bands in a folder.
func bandNames(dir string) ([]string, error) {
	files, err := band.Files(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Name()
	}
	return names, nil
}
