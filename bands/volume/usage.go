package volume

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Measure returns the space that the snapshots of a volume take. Own is the space that no other
// file shares, so that deleting the snapshot frees it; Total is the length of its files; Size is
// the space of all snapshots that the volume at root doesn't share. It reads the extents of the
// files that differ from one snapshot to the next. Data outside of extents isn't counted, such as
// metadata and very small files. tick is called with the number of measured snapshots.
func Measure(ctx context.Context, s *bands.Store, d Driver, root string, tick func(done, total int64)) (retention.Usage, error) {
	snaps, err := s.Snapshots()
	if err != nil {
		return retention.Usage{}, err
	}
	m := measuring{ctx: ctx, store: s, root: root}
	next := Live(d, root)
	if _, err := os.Stat(root); err != nil {
		next = View{}
	}
	u := retention.Usage{Snapshots: make([]retention.SnapshotUsage, len(snaps))}
	for i, snap := range slices.Backward(snaps) {
		tick(int64(len(snaps)-1-i), int64(len(snaps)))
		view, err := Open(s, snap)
		if err != nil {
			return u, errors.Join(err, next.Close())
		}
		own, total, err := m.snapshot(view, next)
		u.Snapshots[i] = retention.SnapshotUsage{Version: snap.Version, Own: own, Total: total}
		err = errors.Join(err, next.Close())
		if next = view; err != nil {
			return u, errors.Join(err, next.Close())
		}
	}
	u.Size = m.bands + length(m.taken) - length(overlap(m.taken, m.live))
	u.Live = u.Size
	return u, next.Close()
}

// measuring is the state of one Measure.
type measuring struct {
	ctx         context.Context //nolint:containedctx // lives as long as the call that made it
	store       *bands.Store
	root        string
	total       int64 // of the files of the snapshot measured before
	known       bool  // total was measured
	taken, live []span
	bands       int64 // room of the bands of sparse bundles that the next snapshot doesn't share
}

// snapshot measures a snapshot, whose successor is next.
func (m *measuring) snapshot(view, next View) (own, total int64, err error) {
	live := func(e disk.Extent) { m.live = append(m.live, spanOf(e)) }
	below := []string{""}
	if d, is := view.driver.(Sparsebundle); is {
		if own, err = d.own(view, next); err != nil {
			return 0, 0, err
		}
		m.bands += own
		total, err = lengthOf(m.ctx, view.Dir, below, nil)
		return own, total, err
	}
	if info, err := os.Lstat(view.at); err == nil && info.Mode().IsRegular() {
		own, err := m.file(view.at)
		if err == nil && len(m.live) == 0 {
			err = extents(m.store.Path(imageFile), live)
		}
		if err != nil {
			return 0, 0, err
		}
		total, err = lengthOf(m.ctx, view.Dir, below, nil)
		return own, total, err
	}
	if next.Dir != "" {
		if below, err = m.changed(view, next); err != nil {
			return 0, 0, err
		}
	}
	seen := map[uint64]bool{}
	length, err := lengthOf(m.ctx, view.Dir, below, func(path string, st *dirfd.Stat) error {
		if seen[st.Ino] {
			return nil
		}
		seen[st.Ino] = true
		n, err := m.file(filepath.Join(view.Dir, path))
		if err != nil {
			return err
		}
		own += n
		err = extents(filepath.Join(m.root, path), live)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, dirfd.ErrNotRegular) || errors.Is(err, syscall.ENOTDIR) {
			err = nil
		}
		return err
	})
	m.total += length
	m.known = true
	return own, m.total, err
}

// changed returns the paths below which the next snapshot differs, and subtracts the length of its
// files there from the total.
func (m *measuring) changed(view, next View) (below []string, err error) {
	if below, err = Changed(m.ctx, next, view); err != nil {
		return nil, err
	}
	if !m.known {
		if m.total, err = lengthOf(m.ctx, next.Dir, []string{""}, nil); err != nil {
			return nil, err
		}
	}
	was, err := lengthOf(m.ctx, next.Dir, below, nil)
	m.total -= was
	return below, err
}

// lengthOf returns the length of the regular files at and below the paths. It calls visit with each
// of them, unless it is nil.
func lengthOf(ctx context.Context, dir string, below []string, visit func(path string, st *dirfd.Stat) error) (n int64, err error) {
	for _, path := range below {
		err := Each(ctx, dir, path, nil, func(path string, st *dirfd.Stat) error {
			if !st.IsRegular() {
				return nil
			}
			n += st.Size
			if visit == nil {
				return nil
			}
			return visit(path, st)
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// file returns the space that only this file has, and adds its extents to those of the snapshots.
func (m *measuring) file(path string) (own int64, err error) {
	err = extents(path, func(e disk.Extent) {
		if !e.Shared {
			own += e.Length
		}
		m.taken = append(m.taken, spanOf(e))
	})
	return own, err
}

// Shared returns how much of an image's file, or of the bands of a sparse bundle, snapshots share,
// in bytes; 0 for other volumes.
func Shared(s *bands.Store, d Driver) (n int64, err error) {
	bundle, is := d.(Sparsebundle)
	if !is {
		if d.Name() == imageFile {
			err = extents(s.Path(imageFile), func(e disk.Extent) {
				if e.Shared {
					n += e.Length
				}
			})
		}
		return n, err
	}
	versions, err := s.Versions()
	if err != nil {
		return 0, err
	}
	held := map[string][]oneBand{}
	for _, v := range versions {
		list, err := listBands(s.VolumeDir(v))
		if err != nil {
			return 0, err
		}
		for _, b := range list {
			held[b.name] = append(held[b.name], b)
		}
	}
	live, err := listBands(bundle.bands())
	for _, b := range live {
		if slices.ContainsFunc(held[b.name], b.same) {
			n += b.taken
		}
	}
	return n, err
}

// extents calls visit with the extents of a regular file that have a place on the disk.
func extents(path string, visit func(disk.Extent)) error {
	dir, err := dirfd.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	f, err := dir.OpenFile(filepath.Base(path))
	if err = errors.Join(err, dir.Close()); err != nil {
		return err
	}
	err = disk.Extents(f, func(e disk.Extent) {
		if e.Place != 0 {
			visit(e)
		}
	})
	return errors.Join(err, f.Close())
}

// span is a range of the disk.
type span struct{ from, to uint64 }

func spanOf(e disk.Extent) span { return span{e.Place, e.Place + uint64(e.Length)} }

// union returns the ranges in order, with overlapping ones joined.
func union(list []span) []span {
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out []span
	for _, s := range list {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// length returns the total length of the ranges, overlaps counted once.
func length(list []span) int64 {
	n := uint64(0)
	for _, s := range union(list) {
		n += s.to - s.from
	}
	return int64(n)
}

// overlap returns the ranges that both have.
func overlap(a, b []span) []span {
	a, b = union(a), union(b)
	var out []span
	for len(a) > 0 && len(b) > 0 {
		if both := (span{max(a[0].from, b[0].from), min(a[0].to, b[0].to)}); both.from < both.to {
			out = append(out, both)
		}
		if a[0].to < b[0].to {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}
