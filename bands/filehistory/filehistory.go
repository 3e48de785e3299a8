// Package filehistory finds the snapshots of a lineage in which paths changed, and the
// snapshot in which each line of a file appeared.
package filehistory

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/contents"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// Reader reads the trees of many snapshots of a store through one set of open bands, so that
// shared records are read once. It isn't safe for concurrent use.
type Reader struct {
	store   *bands.Store
	options bands.Options
	content *contents.Reader
	views   views // of volumes
	// Progress is called by BlameFile with the number of snapshots read, unless it is nil.
	Progress func(done, total int64)
}

// Open returns a Reader. newest is one of the latest snapshots to be read, o are the options of
// their tree. The caller closes the Reader.
func Open(s *bands.Store, newest bands.Snapshot, o bands.Options) *Reader {
	records, reader := s.Loader(newest)
	return &Reader{
		store: s, options: o, content: &contents.Reader{Bands: reader, Records: records},
		views: views{store: s, hashes: map[fileState]band.Hash{}},
	}
}

// Close closes the bands, and the snapshots of a volume.
func (r *Reader) Close() error {
	err := r.content.Bands.Close()
	for _, o := range r.views.open {
		err = errors.Join(err, o.Close())
	}
	r.views.open = nil
	return err
}

// damaged reports whether an error means that a record is damaged or missing, rather than that a
// snapshot has no such path.
func damaged(err error) bool {
	if found, ok := errors.AsType[*fs.PathError](err); ok && found.Op == "find" {
		return false
	}
	return err != nil && tree.IsDamaged(err)
}

// try calls read with the common Reader, and if that finds damage, with one that reads the
// snapshot's own bands first.
func (r *Reader) try(snap bands.Snapshot, read func(*contents.Reader) error) error {
	err := read(r.content)
	if !damaged(err) {
		return err
	}
	own, openErr := contents.Open(r.store, snap)
	if openErr != nil {
		return err
	}
	return errors.Join(read(own), own.Bands.Close())
}

// entry returns the entry of a path; nil if the snapshot doesn't have or hold it.
func (r *Reader) entry(snap bands.Snapshot, path string) (*tree.Entry, error) {
	if snap.Volume != "" {
		return r.views.entry(snap, path)
	}
	root, ok := snap.Tree.Ref()
	if !ok {
		return nil, bands.ErrDamaged
	}
	var e tree.Entry
	err := r.try(snap, func(c *contents.Reader) (err error) {
		e, err = tree.Lookup(c.Records, root, path)
		return err
	})
	if found, ok := errors.AsType[*fs.PathError](err); ok && found.Op == "find" {
		return nil, nil //nolint:nilnil // there may be none
	}
	if err != nil {
		return nil, err
	}
	if e.Kind == tree.Unknown {
		return nil, nil //nolint:nilnil // as above
	}
	return &e, nil
}

// Changed returns the paths that differ between two snapshots, except for directories and
// attributes, sorted. A nil old is an empty tree. Only paths for which match returns true are
// included; if most is above 0 it stops after most paths.
func (r *Reader) Changed(ctx context.Context, old *bands.Snapshot, now bands.Snapshot, most int, match func(path string) bool) ([]string, error) {
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
	err := r.try(now, func(c *contents.Reader) error {
		found = nil
		return tree.Diff(ctx, c.Records, before, c.Records, after, func(d tree.Change) error {
			onlyDirs := (d.Old == nil || d.Old.Kind == tree.Dir) && (d.New == nil || d.New.Kind == tree.Dir)
			if d.Kind == tree.Attributes || d.Kind == tree.UnknownChange || onlyDirs || !match(d.Path) {
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
func (r *Reader) Touches(ctx context.Context, old *bands.Snapshot, now bands.Snapshot, path string) (bool, error) {
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
	var before *tree.Entry
	if old != nil {
		if before, err = r.entry(*old, path); err != nil {
			return false, err
		}
	}
	if !tree.IsDir(before) && !tree.IsDir(after) {
		return !sameContent(before, after), nil
	}
	if !tree.IsDir(before) || !tree.IsDir(after) {
		return true, nil // a directory was added, removed, or was a file
	}
	below := func(v bands.Version, ref band.Ref) bands.Snapshot {
		return bands.Snapshot{Version: v, Tree: bands.TreeRef{Hash: ref.Hash.String(), Band: ref.Band, Offset: ref.Offset}}
	}
	from, to := below(old.Version, before.Content), below(now.Version, after.Content)
	found, err := r.Changed(ctx, &from, to, 1, func(string) bool { return true })
	return len(found) > 0, err
}

// sameContent compares files and symlinks, either of which may be nil.
func sameContent(a, b *tree.Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Size == b.Size && a.Target == b.Target && a.Content.Hash == b.Content.Hash
}
