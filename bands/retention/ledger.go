package retention

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// counting determines how much a ledger finds out.
type counting int

const (
	// countLive finds which records are needed.
	countLive counting = iota
	// countSharing also finds which are needed by one snapshot only.
	countSharing
)

// shared is the holder of records that several snapshots need.
const shared = -1

// ledger holds the records that snapshots need. It reads directories that snapshots share once,
// with countSharing twice.
type ledger struct {
	store    *bands.Store
	counting counting
	reader   *band.Reader
	tree     *band.DirectoryLoader
	records  map[recordAt]heldRecord
	snaps    int
	// pinned are bands whose needed records are not all known.
	pinned map[uint32]bool
	// pieces are the stretches of raw bands that snapshots need.
	pieces map[uint32][]stretch
	bad    []error // errors of unreadable records
}

// recordAt is the place of a record: the band's number and the offset. A raw band is one record.
type recordAt struct{ band, offset uint32 }

// heldRecord is a record: its room on the disk, and the snapshot that needs it, as the number of
// its add call.
type heldRecord struct {
	stored int64
	holder int32
	raw    bool
}

func newLedger(s *bands.Store, c counting) *ledger {
	r := band.NewReader(s.BandsDir())
	return &ledger{
		store: s, counting: c, reader: r, tree: band.NewDirectoryLoader(r),
		records: map[recordAt]heldRecord{}, pinned: map[uint32]bool{}, pieces: map[uint32][]stretch{},
	}
}

func (l *ledger) close() { _ = l.reader.Close() }

// add adds a snapshot and returns the number of bytes that it needs and no earlier one did. If it
// is damaged, its bands are pinned and add continues.
func (l *ledger) add(ctx context.Context, snap bands.Snapshot) (int64, error) {
	e := entering{ledger: l, holder: int32(l.snaps)}
	l.snaps++
	root, ok := snap.Tree.Ref()
	if !ok {
		e.bad = append(e.bad, fmt.Errorf("%w: the root of the tree", bands.ErrDamaged))
	} else if err := e.directory(ctx, root); err != nil {
		return 0, err
	}
	if len(e.bad) > 0 {
		l.bad = append(l.bad, fmt.Errorf("snapshot %s: %w", snap.Version, errors.Join(e.bad...)))
		for _, b := range snap.Bands {
			l.pinned[b.Number] = true
		}
	}
	return e.fresh, nil
}

// entering is the state of one add.
type entering struct {
	*ledger
	holder int32
	fresh  int64
	bad    []error
}

// enter adds a record and reports whether the records below it have to be read.
func (e *entering) enter(at recordAt, size func() (heldRecord, error)) (below bool) {
	had, known := e.records[at]
	switch {
	case !known:
		r, err := size()
		if err != nil {
			e.bad = append(e.bad, err)
			return false
		}
		r.holder = e.holder
		e.records[at] = r
		e.fresh += r.stored
		return true
	case had.holder == e.holder || had.holder == shared || e.counting == countLive:
		return false
	}
	had.holder = shared
	e.records[at] = had
	return true
}

func (e *entering) record(ref band.Ref, kind band.RecordKind) (below bool) {
	return e.enter(recordAt{ref.Band, ref.Offset}, func() (heldRecord, error) {
		_, stored, err := e.reader.Size(ref, kind)
		return heldRecord{stored: stored}, err
	})
}

func (e *entering) directory(ctx context.Context, ref band.Ref) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !e.record(ref, band.DirectoryRecord) {
		return nil
	}
	dir, err := e.tree.Header(ref)
	if err != nil {
		e.bad = append(e.bad, err)
		return nil
	}
	for i := range dir.Pages {
		p := &dir.Pages[i]
		if !e.record(p.Ref, band.PageRecord) {
			continue
		}
		entries, err := e.tree.Page(p)
		if err != nil {
			e.bad = append(e.bad, err)
			continue
		}
		if err := e.entries(ctx, entries); err != nil {
			return err
		}
	}
	return e.entries(ctx, dir.Entries)
}

func (e *entering) entries(ctx context.Context, entries []band.Entry) error {
	for i := range entries {
		entry := &entries[i]
		switch {
		case entry.Content.IsZero():
		case entry.Kind == band.Dir:
			if err := e.directory(ctx, entry.Content); err != nil {
				return err
			}
		case entry.Parts:
			e.parts(entry.Content)
		default:
			e.record(entry.Content, band.DataRecord)
		}
	}
	return nil
}

func (e *entering) parts(ref band.Ref) {
	if !e.record(ref, band.ListRecord) {
		return
	}
	parts, err := e.tree.Parts(ref)
	if err != nil {
		e.bad = append(e.bad, err)
		return
	}
	for _, p := range parts {
		switch p.Kind {
		case band.HolePart:
		case band.DataPart:
			e.record(p.Ref, band.DataRecord)
		case band.RawPart, band.PiecePart:
			from := int64(p.Ref.Offset) * band.PieceUnit
			e.pieces[p.Ref.Band] = append(e.pieces[p.Ref.Band], stretch{from, from + p.Length})
			e.enter(recordAt{band: p.Ref.Band}, func() (heldRecord, error) { return e.rawBand(p.Ref.Band) })
		}
	}
}

// rawBand returns the room that a large file's own band takes.
func (e *entering) rawBand(n uint32) (heldRecord, error) {
	dir, err := dirfd.OpenRoot(e.store.BandsDir())
	if err != nil {
		return heldRecord{}, err
	}
	var st dirfd.Stat
	err = errors.Join(dir.Stat(band.RawName(n), &st), dir.Close())
	if err != nil {
		return heldRecord{}, fmt.Errorf("%w: %s: %w", bands.ErrDamaged, filepath.Join(e.store.BandsDir(), band.RawName(n)), err)
	}
	return heldRecord{stored: st.Blocks * 512, raw: true}, nil
}
