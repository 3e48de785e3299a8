package diff

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"slices"
	"syscall"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// openViews is the number of snapshots of a volume kept open: the two that are compared.
const openViews = 2

// views are the open snapshots of a volume, most recently used first.
type views struct {
	store  *bands.Store
	open   []openView
	hashes map[fileState]band.Hash // of files that were read
}

// fileState identifies the content of a file in a volume and its copies.
type fileState struct {
	inode              uint64
	size, mtime, ctime int64
}

type openView struct {
	version bands.Version
	volume.View
}

// at returns an open snapshot, opening it if needed.
func (v *views) at(snap bands.Snapshot) (volume.View, error) {
	i := slices.IndexFunc(v.open, func(o openView) bool { return o.version == snap.Version })
	if i >= 0 {
		found := v.open[i]
		v.open = slices.Insert(slices.Delete(v.open, i, i+1), 0, found)
		return found.View, nil
	}
	if len(v.open) == openViews {
		last := v.open[openViews-1]
		v.open = v.open[:openViews-1]
		if err := last.Close(); err != nil {
			return volume.View{}, err
		}
	}
	view, err := volume.Open(v.store, snap)
	if err == nil {
		v.open = slices.Insert(v.open, 0, openView{snap.Version, view})
	}
	return view, err
}

// entry returns the entry of a path, with the hash of a file's content; nil if there is none.
func (v *views) entry(snap bands.Snapshot, path string) (*band.Entry, error) {
	view, err := v.at(snap)
	if err != nil {
		return nil, err
	}
	dir, err := bands.OpenBelow(view.Dir, band.ParentPath(path))
	if isGone(err) {
		return nil, nil //nolint:nilnil // there may be none
	}
	if err != nil {
		return nil, err
	}
	e, err := v.read(dir, band.BasePath(path))
	err = errors.Join(err, dir.Close())
	if isGone(err) {
		return nil, nil //nolint:nilnil // as above
	}
	return e, err
}

// isGone reports whether an error means that there is no such path.
func isGone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (v *views) read(dir *dirfd.Dir, name string) (*band.Entry, error) {
	var st dirfd.Stat
	if err := dir.Stat(name, &st); err != nil {
		return nil, err
	}
	e := &band.Entry{Name: name, Kind: band.Unknown, Size: st.Size}
	var err error
	switch {
	case st.IsDir():
		e.Kind = band.Dir
	case st.IsSymlink():
		e.Kind = band.Symlink
		e.Target, err = dir.Readlink(name)
	case st.IsRegular():
		e.Kind = band.File
		e.Content.Hash, err = v.hash(dir, name, st)
	}
	return e, err
}

// hash returns the hash of a file's content. A file with the same inode, size and times in
// another snapshot has the same content.
func (v *views) hash(dir *dirfd.Dir, name string, st dirfd.Stat) (band.Hash, error) {
	state := fileState{st.Ino, st.Size, st.Mtime, st.Ctime}
	if known, ok := v.hashes[state]; ok {
		return known, nil
	}
	f, err := dir.OpenFile(name)
	if err != nil {
		return band.Hash{}, err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return band.Hash{}, err
	}
	hash := band.Hash(sum.Sum(nil))
	v.hashes[state] = hash
	return hash, nil
}

// changedInVolume is FileHistory.Changed for snapshots of a volume.
func (r *FileHistory) changedInVolume(ctx context.Context, old *bands.Snapshot, now bands.Snapshot, most int, match func(string) bool) ([]string, error) {
	after, err := r.views.at(now)
	if err != nil {
		return nil, err
	}
	below := []string{""}
	if old != nil {
		before, err := r.views.at(*old)
		if err != nil {
			return nil, err
		}
		if below, err = volume.Changed(ctx, before, after, r.options.Hidden...); err != nil {
			return nil, err
		}
	}
	var found []string
	for _, snap := range []*bands.Snapshot{old, &now} {
		if snap == nil {
			continue
		}
		view, err := r.views.at(*snap)
		if err != nil {
			return nil, err
		}
		for _, path := range below {
			err := volume.Each(ctx, view.Dir, path, r.options.Hidden, func(path string, _ *dirfd.Stat) error {
				if match(path) {
					found = append(found, path)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if old != nil {
		if found, err = r.differing(*old, now, found); err != nil {
			return nil, err
		}
	}
	if most > 0 && len(found) > most {
		found = found[:most]
	}
	return found, ctx.Err()
}

// differing returns the paths whose content differs.
func (r *FileHistory) differing(old, now bands.Snapshot, paths []string) ([]string, error) {
	var list []string
	for _, path := range paths {
		before, err := r.views.entry(old, path)
		if err != nil {
			return nil, err
		}
		after, err := r.views.entry(now, path)
		if err != nil {
			return nil, err
		}
		if !sameEntryContent(before, after) {
			list = append(list, path)
		}
	}
	return list, nil
}
