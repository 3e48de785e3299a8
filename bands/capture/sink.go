package capture

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// sink stores the contents that a walk reads.
type sink interface {
	// Add stores a record.
	Add(kind band.RecordKind, content []byte) (band.Ref, error)
	// keep returns former, the reference to a record with that content, if the record is intact;
	// else it stores the content.
	keep(former band.Ref, kind band.RecordKind, content []byte) (band.Ref, error)
	// clones reports whether large files should be stored by raw.
	clones() bool
	// raw stores a large file as a band of its own, and returns its pieces.
	raw(f *os.File, size int64) ([]band.Part, error)
	// directory stores a directory, or a page, with the entries of d. Its encoding is data. If it
	// is a page, the caller may reuse the memory that d refers to.
	directory(kind band.RecordKind, d *band.Directory, data []byte) (band.Ref, error)
}

// Keeper is the sink that appends to the store's bands. It opens them on the first write: most
// walks write nothing.
type Keeper struct {
	store *bands.Store
	room  int64 // bytes that may be appended; negative: any number
	open  func() (*band.Writer, error)
	// Lengths are the minimum lengths of bands.
	Lengths map[uint32]int64
	reader  *band.Reader // reads the bands that the writer appends to

	dedupe *band.Dedupe
	writer *band.Writer
}

// NewKeeper returns a keeper that begins no band with a number below first, and appends at most
// room bytes (any number if it is negative). The caller closes it.
func NewKeeper(s *bands.Store, first uint32, room int64) *Keeper {
	k := &Keeper{store: s, room: room, reader: band.NewReader(s.BandsDir())}
	k.open = sync.OnceValues(func() (*band.Writer, error) {
		damaged, err := s.Damaged()
		if err != nil {
			return nil, err
		}
		dedupe, err := band.OpenDedupe(s.Path(bands.DedupeFile))
		if err != nil {
			return nil, err
		}
		options := band.WriterOptions{Dedupe: dedupe, First: first, Lengths: k.Lengths, Damaged: damaged}
		w, err := band.NewWriter(s.BandsDir(), options)
		if err != nil {
			return nil, errors.Join(err, dedupe.Close())
		}
		k.dedupe, k.writer = dedupe, w
		return w, nil
	})
	return k
}

// Add stores a record, unless the store has it.
func (k *Keeper) Add(kind band.RecordKind, content []byte) (band.Ref, error) {
	w, err := k.open()
	if err != nil {
		return band.Ref{}, err
	}
	ref, err := w.Add(kind, content)
	if err == nil && k.room >= 0 && w.Added() > k.room {
		err = errFull
	}
	return ref, err
}

func (k *Keeper) keep(former band.Ref, kind band.RecordKind, content []byte) (band.Ref, error) {
	if k.reader.Intact(former, kind) {
		return former, nil
	}
	w, err := k.open()
	if err != nil {
		return band.Ref{}, err
	}
	return w.Keep(former, kind, content)
}

func (k *Keeper) clones() bool { return k.store.Linking() == disk.Reflink }

// raw clones the file first and hashes the clone, which doesn't change.
func (k *Keeper) raw(f *os.File, size int64) ([]band.Part, error) {
	w, err := k.open()
	if err != nil {
		return nil, err
	}
	number, err := w.AddRaw(f, size, band.Hash{}, disk.Reflink)
	if err != nil {
		return nil, err
	}
	clone, err := os.Open(filepath.Join(k.store.BandsDir(), band.RawName(number)))
	if err != nil {
		return nil, err
	}
	parts, err := piecesOf(clone, size, number)
	return parts, errors.Join(err, clone.Close())
}

func (k *Keeper) directory(kind band.RecordKind, _ *band.Directory, data []byte) (band.Ref, error) {
	return k.Add(kind, data)
}

// Finish writes the buffers and syncs the bands: one sync per band, of which there are few, without
// the data of other processes.
func (k *Keeper) Finish() error {
	if k.writer == nil {
		return nil
	}
	return k.writer.Sync()
}

// unsynced writes the buffers, and returns the paths that the caller has to sync instead of calling
// Finish.
func (k *Keeper) unsynced() ([]string, error) {
	if k.writer == nil {
		return nil, nil
	}
	return k.writer.Unsynced()
}

// repaired returns the damaged records that were written again.
func (k *Keeper) repaired() []band.Damaged {
	if k.writer == nil {
		return nil
	}
	return k.writer.Repaired()
}

func (k *Keeper) added() int64 {
	if k.writer == nil {
		return 0
	}
	return k.writer.Added()
}

// Close closes the open files; added records are kept.
func (k *Keeper) Close() error {
	if k.writer == nil {
		return k.reader.Close()
	}
	return errors.Join(k.writer.Close(), k.dedupe.Close(), k.reader.Close())
}

// errFull means that the store has no room for the records to append.
var errFull = fmt.Errorf("%w: the store has reached its size limit", bands.ErrNoRoom)

// nowhere is the band number of records that aren't stored.
const nowhere = math.MaxUint32

// observer is the sink that stores nothing: it keeps the records that the store lacks by their
// hashes. Directories and pages stay encoded, as a tree whose files all changed has hundreds of
// thousands of entries.
type observer struct {
	cloning bool

	mu      sync.Mutex           // guards records
	records map[band.Hash][]byte // directories, pages, lists of parts
}

func (o *observer) Add(kind band.RecordKind, content []byte) (band.Ref, error) {
	ref := band.Ref{Hash: sha256.Sum256(content), Band: nowhere}
	if kind == band.ListRecord {
		o.set(ref.Hash, content)
	}
	return ref, nil
}

func (o *observer) keep(former band.Ref, _ band.RecordKind, _ []byte) (band.Ref, error) {
	return former, nil
}

func (o *observer) clones() bool { return o.cloning }

func (o *observer) raw(f *os.File, size int64) ([]band.Part, error) {
	return piecesOf(f, size, nowhere)
}

func (o *observer) directory(_ band.RecordKind, _ *band.Directory, data []byte) (band.Ref, error) {
	ref := band.Ref{Hash: sha256.Sum256(data), Band: nowhere}
	o.set(ref.Hash, slices.Clone(data))
	return ref, nil
}

func (o *observer) set(hash band.Hash, record []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.records[hash] = record
}

// record returns a record that the observer has.
func (o *observer) record(ref band.Ref) (data []byte, found bool) {
	if ref.Band != nowhere {
		return nil, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	data, found = o.records[ref.Hash]
	return data, found
}

// overlay loads records from an observer, and others from the store.
type overlay struct {
	*observer

	base *band.DirectoryLoader // nil if there is none
}

// Directory implements band.Loader.
func (o overlay) Directory(ref band.Ref) (*band.Directory, error) {
	if ref.Band != nowhere && o.base != nil {
		return o.base.Directory(ref)
	}
	header, err := o.Header(ref)
	if err != nil {
		return nil, err
	}
	return band.AssembleDirectory(header, o.Page)
}

// Page loads the entries of a page.
func (o overlay) Page(p *band.Page) ([]band.Entry, error) {
	if data, found := o.record(p.Ref); found {
		return band.DecodePage(data)
	}
	if o.base == nil {
		return nil, fmt.Errorf("load page %s: %w", p.Ref.Hash, bands.ErrDamaged)
	}
	return o.base.Page(p)
}

// Header loads a directory's record.
func (o overlay) Header(ref band.Ref) (*band.Directory, error) {
	if data, found := o.record(ref); found {
		return band.DecodeDirectory(data)
	}
	if o.base == nil {
		return nil, fmt.Errorf("load directory %s: %w", ref.Hash, bands.ErrDamaged)
	}
	return o.base.Header(ref)
}
