package retention

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
)

// EraseRequest specifies the forgotten content. A file that has it is replaced by an unknown entry
// with the reason band.Forgotten.
type EraseRequest struct {
	// Path reports whether the file of a path is forgotten, whatever its content; nil: none is.
	Path func(path string) bool
	// Content reports whether data has forgotten content; nil: none has. A large file is passed in
	// pieces, each of which begins with the last Overlap bytes of the one before.
	Content func(data []byte) bool
	Overlap int
	// Name returns the replacement of a name that has forgotten content, or the name itself. It may
	// be nil.
	Name func(name string) string
	// Progress is called with the number of searched snapshots, unless it is nil.
	Progress func(done, total int64)
}

// ForgottenPath is a path with forgotten content in some snapshots.
type ForgottenPath struct {
	Path     string // masked
	Versions []bands.Version
}

// FindForgotten returns the paths of all snapshots that have forgotten content, and in damage the
// errors of unreadable records.
func FindForgotten(ctx context.Context, s *bands.Store, what EraseRequest) (found []ForgottenPath, damage, err error) {
	snaps, unreadable := s.Snapshots()
	f := newForgetter(s, what)
	f.bad = append(f.bad, unreadable)
	versions := map[string][]bands.Version{}
	for i, snap := range snaps {
		f.reached(i, len(snaps))
		out, err := f.snapshot(ctx, snap)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range out.paths {
			versions[p] = append(versions[p], snap.Version)
		}
	}
	for p, list := range versions {
		found = append(found, ForgottenPath{Path: p, Versions: list})
	}
	slices.SortFunc(found, func(a, b ForgottenPath) int { return strings.Compare(a.Path, b.Path) })
	return found, errors.Join(f.bad...), nil
}

// forgetter goes through the trees of snapshots. With a keeper it stores the trees that change,
// without one it only searches.
type forgetter struct {
	EraseRequest

	store *bands.Store
	keep  *capture.Keeper
	// wrote are the bands that have records of rewritten directories.
	wrote map[uint32]bool
	// contents and dirs are the known results.
	contents map[band.Ref]bool
	dirs     map[forgottenAt]forgottenDir
	bad      []error
	buf, win []byte
}

// forgottenAt is a directory; as a key it has a path only if paths are forgotten.
type forgottenAt struct {
	ref  band.Ref
	path string
}

// forgottenDir is the result of a directory: the same record if nothing changes.
type forgottenDir struct {
	band.StoredDirectory

	changed bool
	paths   []string // below the directory
}

func newForgetter(s *bands.Store, what EraseRequest) *forgetter {
	return &forgetter{
		EraseRequest: what, store: s, wrote: map[uint32]bool{}, contents: map[band.Ref]bool{}, dirs: map[forgottenAt]forgottenDir{},
	}
}

func (f *forgetter) reached(done, total int) {
	if f.Progress != nil {
		f.Progress(int64(done), int64(total))
	}
}

// snapshot goes through the tree of one snapshot.
func (f *forgetter) snapshot(ctx context.Context, snap bands.Snapshot) (out forgottenDir, err error) {
	root, ok := snap.Tree.Ref()
	if !ok {
		f.bad = append(f.bad, fmt.Errorf("snapshot %s: %w", snap.Version, bands.ErrDamaged))
		return out, nil
	}
	records, reader := f.store.Loader(snap)
	defer func() { err = errors.Join(err, reader.Close()) }()
	before := len(f.bad)
	out, err = f.directory(ctx, &bands.ContentReader{Records: records, Bands: reader}, forgottenAt{ref: root})
	for i := before; i < len(f.bad); i++ {
		f.bad[i] = fmt.Errorf("snapshot %s: %w", snap.Version, f.bad[i])
	}
	return out, err
}

// directory returns the result of a directory. If its record is damaged, it is kept.
func (f *forgetter) directory(ctx context.Context, from *bands.ContentReader, at forgottenAt) (out forgottenDir, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	known := at
	if f.Path == nil {
		known.path = ""
	}
	if done, ok := f.dirs[known]; ok {
		return done, nil
	}
	dir, err := from.Records.Directory(at.ref)
	if err != nil {
		return out, f.note(err)
	}
	out.StoredDirectory = band.StoredDirectory{Ref: at.ref, Totals: dir.Totals, Bands: dir.Bands}
	entries, below := slices.Clone(dir.Entries), map[string]band.StoredDirectory{}
	units := map[string]bool{}
	for i := range entries {
		e := &entries[i]
		was := e.Name
		if e.Kind == band.Dir {
			kid, err := f.directory(ctx, from, forgottenAt{ref: e.Content, path: path.Join(at.path, e.Name)})
			if err != nil {
				return out, err
			}
			e.Name, e.Content = f.name(was), kid.Ref
			below[e.Name] = kid.StoredDirectory
			for _, p := range kid.paths {
				out.paths = append(out.paths, e.Name+"/"+p)
			}
			out.changed = out.changed || kid.changed || e.Name != was
		} else {
			gone, err := f.entry(ctx, from, e, path.Join(at.path, e.Name))
			if err != nil {
				return out, err
			}
			if gone {
				units[unitOf(was)] = true
			}
		}
		if e.Name != was {
			out.paths = append(out.paths, e.Name)
		}
	}
	out.paths = append(out.paths, takeOut(entries, dir.Entries, units)...)
	slices.Sort(out.paths)
	out.paths = slices.Compact(out.paths)
	if out.changed = out.changed || len(out.paths) > 0; out.changed && f.keep != nil {
		err = f.write(from, dir.Attr, entries, below, &out)
	}
	if err == nil {
		f.dirs[known] = out
	}
	return out, err
}

// takeOut makes the files of the units unknown, and returns their names. The units have the names
// that the entries had before.
func takeOut(entries, before []band.Entry, units map[string]bool) (names []string) {
	for i := range entries {
		e := &entries[i]
		if e.Kind == band.Dir || e.Kind == band.Unknown || !units[unitOf(before[i].Name)] {
			continue
		}
		attr := band.Attr{Mode: e.Attr.Mode, UID: e.Attr.UID, GID: e.Attr.GID, Mtime: e.Attr.Mtime}
		*e = band.Entry{Name: e.Name, Kind: band.Unknown, Reason: band.Forgotten, Attr: attr}
		names = append(names, e.Name)
	}
	return names
}

// note collects the error if it is damage, and returns any other.
func (f *forgetter) note(err error) error {
	if !errors.Is(err, band.ErrDamaged) {
		return err
	}
	f.bad = append(f.bad, err)
	return nil
}

// name returns the name, or its replacement.
func (f *forgetter) name(name string) string {
	if f.Name == nil {
		return name
	}
	return f.Name(name)
}

// entry reports whether the entry of a file or symlink is forgotten, and masks its name.
func (f *forgetter) entry(ctx context.Context, from *bands.ContentReader, e *band.Entry, at string) (gone bool, err error) {
	was := e.Name
	e.Name = f.name(was)
	switch e.Kind {
	case band.Symlink:
		return f.Path != nil && f.Path(at) || e.Name != was || f.name(e.Target) != e.Target, nil
	case band.File:
		if f.Path != nil && f.Path(at) || e.Name != was {
			return true, nil
		}
		if f.Content == nil {
			return false, nil
		}
		if slices.ContainsFunc(e.Attr.Xattrs, func(x band.Xattr) bool { return f.Content(x.Value) }) {
			return true, nil
		}
		if e.Content.IsZero() {
			return false, nil
		}
		if has, known := f.contents[e.Content]; known {
			return has, nil
		}
		has, err := f.search(ctx, from, e)
		if err := f.note(err); err != nil {
			return false, err
		}
		f.contents[e.Content] = has
		return has, nil
	default:
		return false, nil
	}
}

// overwriteChunk is the number of bytes of a large file that are searched at a time.
const overwriteChunk = 1 << 20

// search reports whether a file has forgotten content.
func (f *forgetter) search(ctx context.Context, from *bands.ContentReader, e *band.Entry) (has bool, err error) {
	if !e.Parts {
		f.buf, err = from.Bands.Read(e.Content, band.DataRecord, f.buf)
		return err == nil && f.Content(f.buf), err
	}
	parts, err := from.Records.Parts(e.Content)
	if err != nil {
		return false, err
	}
	f.win = f.win[:0]
	look := func(data []byte) bool {
		f.win = append(f.win[:copy(f.win, f.win[max(0, len(f.win)-f.Overlap):])], data...)
		return f.Content(f.win)
	}
	for _, p := range parts {
		if err := ctx.Err(); err != nil || has {
			return has, err
		}
		switch p.Kind {
		case band.HolePart:
			f.win = f.win[:0]
			continue
		case band.DataPart:
			f.buf, err = from.Bands.Read(p.Ref, band.DataRecord, f.buf)
		case band.PiecePart:
			f.buf, err = from.Bands.ReadPiece(p, f.buf)
		case band.RawPart:
			return f.searchRaw(ctx, from, p, look)
		}
		if err != nil {
			return false, err
		}
		has = look(f.buf)
	}
	return has, nil
}

func (f *forgetter) searchRaw(ctx context.Context, from *bands.ContentReader, p band.Part, look func([]byte) bool) (bool, error) {
	file, err := from.Bands.OpenRaw(p.Ref.Band, p.Length)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // it was only read
	buf := make([]byte, overwriteChunk)
	for rest := p.Length; rest > 0; {
		n, err := io.ReadFull(file, buf[:min(rest, overwriteChunk)])
		if err := errors.Join(err, ctx.Err()); err != nil {
			return false, err
		}
		if look(buf[:n]) {
			return true, nil
		}
		rest -= int64(n)
	}
	return false, nil
}

// unitOf returns the name of the database that a file belongs to, as a database is forgotten with
// its log; for other files it is the name itself.
func unitOf(name string) string {
	for _, suffix := range []string{"-journal", "-wal", "-shm"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && base != "" {
			return base
		}
	}
	return name
}

// write stores a directory with other entries, in any order.
func (f *forgetter) write(from *bands.ContentReader, attr band.Attr, entries []band.Entry, below map[string]band.StoredDirectory, out *forgottenDir) error {
	byName := func(a, b band.Entry) int { return strings.Compare(a.Name, b.Name) }
	slices.SortStableFunc(entries, byName)
	taken := map[string]bool{}
	for i := range entries { // entries of the same name get different ones
		for taken[entries[i].Name] {
			entries[i].Name += "_"
		}
		taken[entries[i].Name] = true
	}
	slices.SortFunc(entries, byName)
	under := func(e *band.Entry) (band.StoredDirectory, error) {
		if !e.Parts {
			return below[e.Name], nil
		}
		parts, err := from.Records.Parts(e.Content)
		return band.StoredDirectory{Bands: capture.BandsOf(parts)}, err
	}
	dir := &band.Directory{Attr: attr}
	var err error
	if len(entries) > band.FlatEntries {
		pager := band.Pager{Store: func(entries []band.Entry, p *band.Page) (err error) {
			if p.Totals, p.Bands, err = capture.SumEntries(entries, under); err != nil {
				return err
			}
			p.Ref, err = f.add(band.PageRecord, band.EncodePage(entries, nil))
			return err
		}}
		pages, err := pager.Split(band.ApplyEdits(entries, nil))
		if err != nil {
			return err
		}
		dir.SetPages(pages)
	} else {
		dir.Entries = entries
		if dir.Totals, dir.Bands, err = capture.SumEntries(entries, under); err != nil {
			return err
		}
	}
	out.Totals, out.Bands = dir.Totals, dir.Bands
	out.Ref, err = f.add(band.DirectoryRecord, dir.Encode(nil))
	return err
}

func (f *forgetter) add(kind band.RecordKind, content []byte) (band.Ref, error) {
	ref, err := f.keep.Add(kind, content)
	f.wrote[ref.Band] = true
	return ref, err
}
