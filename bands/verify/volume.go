package verify

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// RunVolume is Run for a volume's store: it reads every file of the snapshot v, or of all if v is
// 0; a file system with checksums compares them. Of a snapshot it reads the files that differ from
// the next one. In the result a record is a file.
func RunVolume(ctx context.Context, s *bands.Store, v bands.Version, tick func(done, total int64)) (Damage, error) {
	versions, err := s.Versions()
	if err != nil {
		return Damage{}, err
	}
	if v != 0 {
		versions = []bands.Version{v}
	}
	r := volumeReading{store: s, lost: map[string]int{}}
	defer func() { _ = r.last.Close() }()
	for i, v := range slices.Backward(versions) {
		tick(int64(len(versions)-i-1), int64(len(versions)))
		if err := r.snapshot(ctx, v); err != nil {
			return r.found, err
		}
	}
	return r.found, nil
}

// volumeReading reads the snapshots of a volume back.
type volumeReading struct {
	store *bands.Store
	found Damage
	last  volume.View    // the snapshot after the present one
	is    bool           // whether last is set
	lost  map[string]int // indexes in found.Bad of the paths that are lost in last, too
}

// snapshot reads a snapshot. Damage is added to found; the error is that of ctx.
func (r *volumeReading) snapshot(ctx context.Context, v bands.Version) error {
	snap, err := r.store.Snapshot(v)
	if errors.Is(err, bands.ErrNoSnapshot) {
		r.found.Deleted = append(r.found.Deleted, v)
		return nil
	}
	var view volume.View
	if err == nil {
		view, err = volume.Open(r.store, snap)
	}
	if err == nil {
		err = view.Check(ctx)
	}
	if err != nil {
		r.found.Versions = append(r.found.Versions, BadVersion{v, err})
		return errors.Join(ctx.Err(), view.Close())
	}
	below := []string{""}
	if r.is {
		if below, err = volume.Changed(ctx, r.last, view); err != nil {
			below = []string{""} // then every file is read
		}
	}
	lost := map[string]int{}
	for path, at := range r.lost {
		within := func(above string) bool { return above == "" || path == above || strings.HasPrefix(path, above+"/") }
		if !slices.ContainsFunc(below, within) {
			r.found.Bad[at].Lost[0].Versions = append(r.found.Bad[at].Lost[0].Versions, v)
			lost[path] = at
		}
	}
	for _, path := range below {
		err := volume.Each(ctx, view.Dir, path, nil, func(path string, st *dirfd.Stat) error {
			if err := r.file(filepath.Join(view.Dir, path), st); err != nil {
				lost[path] = len(r.found.Bad)
				r.found.Bad = append(r.found.Bad, BadRecord{Err: err, Lost: []LostPath{{Path: path, Versions: []bands.Version{v}}}})
			}
			return ctx.Err()
		})
		if err != nil && ctx.Err() == nil {
			r.found.Bad = append(r.found.Bad, BadRecord{Err: err, Lost: []LostPath{{Path: path, Versions: []bands.Version{v}}}})
		}
	}
	err = errors.Join(ctx.Err(), r.last.Close())
	r.last, r.is, r.lost = view, true, lost
	return err
}

// file reads a file.
func (r *volumeReading) file(path string, st *dirfd.Stat) error {
	r.found.Records++
	if !st.IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return cause(err)
	}
	n, err := io.Copy(io.Discard, f)
	r.found.Bytes += n
	return cause(errors.Join(err, f.Close()))
}

// cause returns the error without the path, which is reported beside it.
func cause(err error) error {
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return named.Err
	}
	return err
}
