package diff

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// FileHistory reads the trees of many snapshots of a store through one set of open bands, so that
// shared records are read once. It isn't safe for concurrent use.
type FileHistory struct {
	store   *bands.Store
	options bands.Options
	content *bands.ContentReader
	views   views // of volumes
	// Progress is called by BlameFile with the number of snapshots read, unless it is nil.
	Progress func(done, total int64)
}

// OpenFileHistory returns a FileHistory. newest is one of the latest snapshots to be read, o are
// the options of their tree. The caller closes it.
func OpenFileHistory(s *bands.Store, newest bands.Snapshot, o bands.Options) *FileHistory {
	records, reader := s.Loader(newest)
	return &FileHistory{
		store: s, options: o, content: &bands.ContentReader{Bands: reader, Records: records},
		views: views{store: s, hashes: map[fileState]band.Hash{}},
	}
}

// Close closes the bands, and the snapshots of a volume.
func (r *FileHistory) Close() error {
	err := r.content.Bands.Close()
	for _, o := range r.views.open {
		err = errors.Join(err, o.Close())
	}
	r.views.open = nil
	return err
}

// isDamagedPath reports whether an error means that a record is damaged or missing, rather than
// that a snapshot has no such path.
func isDamagedPath(err error) bool {
	if found, ok := errors.AsType[*fs.PathError](err); ok && found.Op == "find" {
		return false
	}
	return err != nil && band.IsDamaged(err)
}

// try calls read with the common ContentReader, and if that finds damage, with one that reads the
// snapshot's own bands first.
func (r *FileHistory) try(snap bands.Snapshot, read func(*bands.ContentReader) error) error {
	err := read(r.content)
	if !isDamagedPath(err) {
		return err
	}
	own, openErr := bands.OpenContent(r.store, snap)
	if openErr != nil {
		return err
	}
	return errors.Join(read(own), own.Bands.Close())
}

// entry returns the entry of a path; nil if the snapshot doesn't have or hold it.
func (r *FileHistory) entry(snap bands.Snapshot, path string) (*band.Entry, error) {
	if snap.Volume != "" {
		return r.views.entry(snap, path)
	}
	root, ok := snap.Tree.Ref()
	if !ok {
		return nil, bands.ErrDamaged
	}
	var e band.Entry
	err := r.try(snap, func(c *bands.ContentReader) (err error) {
		e, err = band.LookupPath(c.Records, root, path)
		return err
	})
	if found, ok := errors.AsType[*fs.PathError](err); ok && found.Op == "find" {
		return nil, nil //nolint:nilnil // there may be none
	}
	if err != nil {
		return nil, err
	}
	if e.Kind == band.Unknown {
		return nil, nil //nolint:nilnil // as above
	}
	return &e, nil
}

// Changed returns the paths that differ between two snapshots, except for directories and
// attributes, sorted. A nil old is an empty tree. Only paths for which match returns true are
// included; if most is above 0 it stops after most paths.
func (r *FileHistory) Changed(ctx context.Context, old *bands.Snapshot, now bands.Snapshot, most int, match func(path string) bool) ([]string, error) {
	if now.Volume != "" {
		return r.changedInVolume(ctx, old, now, most, match)
	}
	after, ok := now.Tree.Ref()
	if !ok {
		return nil, bands.ErrDamaged
	}
	var before band.Ref
	if old != nil {
		if before, ok = old.Tree.Ref(); !ok {
			return nil, bands.ErrDamaged
		}
	}
	if before == after {
		return nil, nil
	}
	var found []string
	err := r.try(now, func(c *bands.ContentReader) error {
		found = nil
		return band.DiffTrees(ctx, c.Records, before, c.Records, after, func(d band.Change) error {
			onlyDirs := (d.Old == nil || d.Old.Kind == band.Dir) && (d.New == nil || d.New.Kind == band.Dir)
			if d.Kind == band.AttributesChanged || d.Kind == band.UnknownChange || onlyDirs || !match(d.Path) {
				return nil
			}
			found = append(found, d.Path)
			if most > 0 && len(found) == most {
				return fs.SkipAll
			}
			return nil
		})
	})
	return found, err
}

// Touches reports whether a file, or something below a directory, differs between two snapshots
// other than in its attributes. A nil old is an empty tree.
func (r *FileHistory) Touches(ctx context.Context, old *bands.Snapshot, now bands.Snapshot, path string) (bool, error) {
	if now.Volume != "" {
		found, err := r.changedInVolume(ctx, old, now, 1, func(at string) bool {
			return path == "" || at == path || strings.HasPrefix(at, path+"/")
		})
		return len(found) > 0, err
	}
	after, err := r.entry(now, path)
	if err != nil {
		return false, err
	}
	var before *band.Entry
	if old != nil {
		if before, err = r.entry(*old, path); err != nil {
			return false, err
		}
	}
	if !band.IsDir(before) && !band.IsDir(after) {
		return !sameEntryContent(before, after), nil
	}
	if !band.IsDir(before) || !band.IsDir(after) {
		return true, nil // a directory was added, removed, or was a file
	}
	below := func(v bands.Version, ref band.Ref) bands.Snapshot {
		return bands.Snapshot{Version: v, Tree: bands.TreeRef{Hash: ref.Hash.String(), Band: ref.Band, Offset: ref.Offset}}
	}
	from, to := below(old.Version, before.Content), below(now.Version, after.Content)
	found, err := r.Changed(ctx, &from, to, 1, func(string) bool { return true })
	return len(found) > 0, err
}

// sameEntryContent compares files and symlinks, either of which may be nil.
func sameEntryContent(a, b *band.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Size == b.Size && a.Target == b.Target && a.Content.Hash == b.Content.Hash
}
