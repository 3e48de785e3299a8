// Package verify reads snapshots back, checks every record against its hash and lists
// the paths whose content is lost.
package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// Damage is the result of Run.
type Damage struct {
	// Records and Bytes count what was read; records shared by versions are read once.
	Records, Bytes int64
	// Versions are those that could not be read at all, with the reason.
	Versions []BadVersion
	// Bad are the damaged records, by band and offset.
	Bad []BadRecord
	// Deleted are versions that were deleted before they were completely read.
	Deleted []bands.Version
}

// BadVersion is a snapshot whose own description can't be read.
type BadVersion struct {
	Version bands.Version
	Err     error
}

// BadRecord is a record that can't be read, with the paths that need it.
type BadRecord struct {
	Band, Offset uint32
	// Kind is the expected kind, 0 for a raw band, and Hash the expected hash of its content.
	Kind band.RecordKind
	Hash band.Hash
	Err  error
	// Lost are the paths whose content is lost, with the versions.
	Lost []LostPath
}

// LostPath is a path of one or more snapshots. A directory includes all below it.
type LostPath struct {
	Path     string
	Versions []bands.Version
}

// DeletedError means that a version was deleted while it was read. It wraps ErrNoSnapshot.
type DeletedError struct{ Version bands.Version }

// Error names the version.
func (e *DeletedError) Error() string { return e.Version.String() + " was deleted meanwhile" }

// Unwrap returns ErrNoSnapshot.
func (e *DeletedError) Unwrap() error { return bands.ErrNoSnapshot }

// OK reports whether nothing is damaged.
func (d Damage) OK() bool { return len(d.Bad) == 0 && len(d.Versions) == 0 }

// Run reads every record that the version, or with 0 every version, refers to, and compares it with
// its hash. Records shared by versions are read once. progress is called with the number of checked
// records and of those found so far, unless it is nil. The error is about the verification; damage
// is in Damage.
func Run(ctx context.Context, s *bands.Store, v bands.Version, progress func(done, total int64)) (Damage, error) {
	c := &checker{seen: map[recordID]bool{}, bad: map[recordID]error{}, what: map[recordID]band.Damaged{}, progress: progress}
	versions := []bands.Version{v}
	switch {
	case v == 0:
		var err error
		if versions, err = s.Versions(); err != nil {
			return Damage{}, err
		}
	case isDeleted(s, v):
		return Damage{}, fmt.Errorf("%s: %w", v, bands.ErrNoSnapshot)
	}
	var readable []bands.Snapshot
	for _, version := range versions {
		before := maps.Clone(c.bad)
		snapshot, bad := ReadSnapshot(s, version)
		if _, ok := snapshot.Tree.Ref(); ok {
			if err := c.run(ctx, s, snapshot); err != nil && (ctx.Err() != nil || !isDeleted(s, version)) {
				return Damage{}, err
			}
		}
		switch {
		case isDeleted(s, version) && v != 0:
			return Damage{}, &DeletedError{v}
		case isDeleted(s, version):
			c.deleted = append(c.deleted, version)
			// Records found bad during this version may have been removed with it. If other
			// versions refer to them, too, they read them again, and the directories above them.
			for id := range c.bad {
				if before[id] == nil {
					delete(c.bad, id)
					delete(c.what, id)
					clear(c.seen)
				}
			}
			continue
		case bad != nil:
			c.versions = append(c.versions, BadVersion{version, bad})
		}
		if _, ok := snapshot.Tree.Ref(); ok {
			readable = append(readable, snapshot)
		}
	}
	return damage(ctx, s, c, readable)
}

// isDeleted reports whether the version no longer exists. Its folder is removed before anything
// that it refers to.
func isDeleted(s *bands.Store, v bands.Version) bool {
	_, err := os.Lstat(s.SnapshotDir(v))
	return errors.Is(err, fs.ErrNotExist)
}

// ReadSnapshot reads the description of a version, and checks that its bands exist and are long
// enough.
func ReadSnapshot(s *bands.Store, v bands.Version) (bands.Snapshot, error) {
	snapshot, err := s.Snapshot(v)
	if err != nil {
		return bands.Snapshot{}, err
	}
	if _, ok := snapshot.Tree.Ref(); !ok {
		return bands.Snapshot{}, bands.ErrDamaged
	}
	for _, b := range snapshot.Bands {
		if !s.HasBand(snapshot, b) {
			return snapshot, fmt.Errorf("its band %d is missing or cut short: %w", b.Number, bands.ErrDamaged)
		}
	}
	return snapshot, nil
}

// recordID identifies a record by its place; a raw band has the offset 0, where no record can be.
type recordID struct{ band, offset uint32 }

func idOf(ref band.Ref) recordID { return recordID{ref.Band, ref.Offset} }

// checker reads each record once.
type checker struct {
	versions []BadVersion
	deleted  []bands.Version
	progress func(done, total int64)
	seen     map[recordID]bool
	found    atomic.Int64

	mu             sync.Mutex
	bad            map[recordID]error
	what           map[recordID]band.Damaged // of the bad ones
	records, bytes int64
}

// need is a record that has to be read.
type need struct {
	kind band.RecordKind
	ref  band.Ref
	raw  int64 // length of a raw band; -1 for other records
	// piece is the length of a piece of a raw band, 0 for other records.
	piece int64
}

// run reads a version's directories, and its files in other goroutines.
func (c *checker) run(ctx context.Context, s *bands.Store, v bands.Snapshot) error {
	content, err := bands.OpenContent(s, v)
	if err != nil {
		return err
	}
	defer func() { _ = content.Bands.Close() }()
	work := make(chan need, 256)
	var group sync.WaitGroup
	for range max(runtime.NumCPU(), 2) {
		group.Go(func() {
			var buf []byte
			for n := range work {
				var data []byte
				var err error
				switch {
				case n.raw >= 0:
					c.end(n.kind, n.ref, content.CheckRaw(n.ref, n.raw), n.raw)
					continue
				case n.piece > 0:
					data, err = content.Bands.ReadPiece(band.Part{Length: n.piece, Ref: n.ref}, buf[:0])
				default:
					data, err = content.Bands.Read(n.ref, n.kind, buf[:0])
				}
				c.end(n.kind, n.ref, err, int64(len(data)))
				if err == nil {
					buf = data
				}
			}
		})
	}
	root, _ := v.Tree.Ref()
	err = c.directory(ctx, content, root, work)
	close(work)
	group.Wait()
	return err
}

// begin reports whether the record has to be read.
func (c *checker) begin(ref band.Ref) bool {
	id := idOf(ref)
	if c.seen[id] {
		return false
	}
	c.seen[id] = true
	c.found.Add(1)
	return true
}

func (c *checker) end(kind band.RecordKind, ref band.Ref, err error, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.bad[idOf(ref)] = err
		c.what[idOf(ref)] = band.Damaged{Kind: kind, Ref: ref}
	}
	c.bytes += size
	c.records++
	if c.progress != nil && c.records%256 == 0 {
		c.progress(c.records, c.found.Load())
	}
}

// directory reads a directory and all below it, unless an earlier version had it.
func (c *checker) directory(ctx context.Context, content *bands.ContentReader, ref band.Ref, work chan<- need) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !c.begin(ref) {
		return nil
	}
	data, err := content.Bands.Read(ref, band.DirectoryRecord, nil)
	var d *band.Directory
	if err == nil {
		d, err = band.DecodeDirectory(data)
	}
	c.end(band.DirectoryRecord, ref, err, int64(len(data)))
	if err != nil {
		return nil //nolint:nilerr // it is noted
	}
	for i := range d.Pages {
		p := &d.Pages[i]
		if !c.begin(p.Ref) {
			continue
		}
		entries, err := content.Records.Page(p)
		size, _, _ := content.Bands.Size(p.Ref, band.PageRecord)
		c.end(band.PageRecord, p.Ref, err, size)
		if err := c.entries(ctx, content, entries, work); err != nil {
			return err
		}
	}
	return c.entries(ctx, content, d.Entries, work)
}

func (c *checker) entries(ctx context.Context, content *bands.ContentReader, entries []band.Entry, work chan<- need) error {
	for i := range entries {
		e := &entries[i]
		if e.Kind == band.Dir {
			if err := c.directory(ctx, content, e.Content, work); err != nil {
				return err
			}
		}
		if e.Kind == band.File && e.Size > 0 {
			c.file(content, e, work)
		}
	}
	return nil
}

func (c *checker) file(content *bands.ContentReader, e *band.Entry, work chan<- need) {
	if !e.Parts {
		if c.begin(e.Content) {
			work <- need{kind: band.DataRecord, ref: e.Content, raw: -1}
		}
		return
	}
	if !c.begin(e.Content) {
		return
	}
	list, err := content.Parts(e)
	c.end(band.ListRecord, e.Content, err, 0)
	for i := range list {
		p := &list[i]
		if p.Kind == band.HolePart || !c.begin(p.Ref) {
			continue
		}
		switch p.Kind {
		case band.RawPart:
			work <- need{ref: p.Ref, raw: p.Length}
		case band.PiecePart:
			work <- need{ref: p.Ref, raw: -1, piece: p.Length}
		default:
			work <- need{kind: band.DataRecord, ref: p.Ref, raw: -1}
		}
	}
}

// Damaged returns the damaged records.
func (d Damage) Damaged() []band.Damaged {
	all := make([]band.Damaged, 0, len(d.Bad))
	for i := range d.Bad {
		b := &d.Bad[i]
		all = append(all, band.Damaged{Kind: b.Kind, Ref: band.Ref{Hash: b.Hash, Band: b.Band, Offset: b.Offset}})
	}
	return all
}
