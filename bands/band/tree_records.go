package band

import (
	"container/list"
	"errors"
	"fmt"
	"io/fs"
	"sync"
)

// Loader loads the directories of a tree. Callers must not modify them.
type Loader interface {
	Directory(ref Ref) (*Directory, error)
}

// maxCached bounds the number of entries in the directories that a DirectoryLoader caches.
const maxCached = 16 << 10

// DirectoryLoader is a Loader of records in bands. It caches the most recently used directories and
// pages, and is safe for concurrent use.
type DirectoryLoader struct {
	reader  *Reader
	buffers sync.Pool // of *[]byte

	mu     sync.Mutex // guards the fields below
	cached map[cacheKey]*list.Element
	recent *list.List // of cachedDir, most recently used first
	weight int
}

// cacheKey identifies a cached value. A directory with pages has two: its header and the whole.
type cacheKey struct {
	ref   Ref
	whole bool
}

// cachedDir is a directory, or a page in the form of a Directory with only Entries.
type cachedDir struct {
	key cacheKey
	dir *Directory
}

// NewDirectoryLoader returns a Loader of the records that r reads.
func NewDirectoryLoader(r *Reader) *DirectoryLoader {
	return &DirectoryLoader{reader: r, cached: map[cacheKey]*list.Element{}, recent: list.New()}
}

// Directory loads a directory with all its entries. If a record is damaged the error is a
// DamageError.
func (r *DirectoryLoader) Directory(ref Ref) (*Directory, error) {
	key := cacheKey{ref, true}
	if dir := r.known(key); dir != nil {
		return dir, nil
	}
	header, err := r.Header(ref)
	if err != nil || len(header.Pages) == 0 {
		return header, err
	}
	dir, err := AssembleDirectory(header, r.readPage)
	if err != nil {
		return nil, fmt.Errorf("load directory: %w", err)
	}
	r.keep(key, dir)
	return dir, nil
}

// Header loads a directory's record. For a directory with pages it has no Entries.
func (r *DirectoryLoader) Header(ref Ref) (*Directory, error) {
	key := cacheKey{ref: ref}
	if dir := r.known(key); dir != nil {
		return dir, nil
	}
	var dir *Directory
	err := r.read(ref, DirectoryRecord, func(content []byte) (err error) {
		dir, err = DecodeDirectory(content)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load directory: %w", err)
	}
	r.keep(key, dir)
	return dir, nil
}

// Page loads the entries of a page.
func (r *DirectoryLoader) Page(p *Page) ([]Entry, error) {
	key := cacheKey{ref: p.Ref}
	if page := r.known(key); page != nil {
		return page.Entries, nil
	}
	entries, err := r.readPage(p)
	if err != nil {
		return nil, fmt.Errorf("load page: %w", err)
	}
	r.keep(key, &Directory{Entries: entries})
	return entries, nil
}

func (r *DirectoryLoader) readPage(p *Page) (entries []Entry, err error) {
	err = r.read(p.Ref, PageRecord, func(content []byte) (err error) {
		entries, err = DecodePage(content)
		if err == nil && (len(entries) != p.Count || entries[len(entries)-1].Name != p.Last) {
			err = fmt.Errorf("%w: the page belongs to another directory", ErrBadDirectory)
		}
		return err
	})
	return entries, err
}

// Parts loads the list of a file's parts.
func (r *DirectoryLoader) Parts(ref Ref) ([]Part, error) {
	var parts []Part
	err := r.read(ref, ListRecord, func(content []byte) (err error) {
		parts, err = DecodeParts(content)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load list of parts: %w", err)
	}
	return parts, nil
}

// read calls decode with a record's content, which is valid only during the call.
func (r *DirectoryLoader) read(ref Ref, kind RecordKind, decode func(content []byte) error) error {
	buf, _ := r.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer r.buffers.Put(buf)
	content, err := r.reader.Read(ref, kind, *buf)
	if err != nil {
		return err
	}
	*buf = content
	if err := decode(content); err != nil {
		// The content matches its hash, but can't be decoded.
		return &DamageError{Band: ref.Band, Offset: ref.Offset, What: err.Error()}
	}
	return nil
}

func (r *DirectoryLoader) known(key cacheKey) *Directory {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, ok := r.cached[key]
	if !ok {
		return nil
	}
	r.recent.MoveToFront(got)
	c, _ := got.Value.(cachedDir)
	return c.dir
}

func (r *DirectoryLoader) keep(key cacheKey, dir *Directory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.cached[key]; ok {
		return
	}
	r.cached[key] = r.recent.PushFront(cachedDir{key: key, dir: dir})
	r.weight += weigh(dir)
	for r.weight > maxCached && r.recent.Len() > 1 {
		c, _ := r.recent.Remove(r.recent.Back()).(cachedDir)
		delete(r.cached, c.key)
		r.weight -= weigh(c.dir)
	}
}

func weigh(dir *Directory) int { return len(dir.Entries) + len(dir.Pages) + 4 }

// LoadDir loads a directory; for the zero reference it returns an empty one.
func LoadDir(l Loader, ref Ref) (*Directory, error) {
	if ref.IsZero() {
		return &Directory{}, nil
	}
	return l.Directory(ref)
}

// IsDir reports whether e is a directory; nil isn't.
func IsDir(e *Entry) bool { return e != nil && e.Kind == Dir }

// IsDamaged reports whether an error of a Loader means that a record is damaged or missing.
func IsDamaged(err error) bool {
	return errors.Is(err, ErrDamaged) || errors.Is(err, ErrBadDirectory) || errors.Is(err, fs.ErrNotExist)
}
