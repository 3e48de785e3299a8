package capture

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/sqlite"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

const (
	// attempts is how often a changing file is read.
	attempts = 3
	// attemptPause is the pause between these attempts.
	attemptPause = 2 * time.Millisecond
)

var (
	// ErrMoved means that a file changed while it was read.
	ErrMoved = errors.New("changed while it was read")
	// errDatabase means that a file is a database, which isn't read like others.
	errDatabase = errors.New("a database")
)

// readItem reads an item that compare added. If its file was removed, the line stays pending.
func (d *dirReader) readItem(ctx context.Context, at int) error {
	it := &d.list.items[at]
	name := it.line.Name
	st := dirfd.Stat{Mode: it.line.Mode}
	if st.IsSymlink() {
		return d.symlink(it)
	}
	if !st.IsRegular() {
		if err := d.n.dir.Stat(name, &d.st); err != nil {
			return d.failed(it, err)
		}
		why := band.Device
		switch d.st.Mode & dirfd.ModeType {
		case dirfd.ModeRegular, dirfd.ModeSymlink, dirfd.ModeDir:
			d.unsure(it, band.Moving)
			return nil
		case dirfd.ModeFIFO:
			why = band.FIFO
		case dirfd.ModeSocket:
			why = band.Socket
		}
		it.line = d.lineOf(name, &d.st)
		it.entry = unknownEntry(name, why, &d.st)
		return nil
	}
	if main, ok := sqlite.Unit(d.hasFile, name); ok && d.startsDatabase(main) {
		if isShared(name) {
			it.line.Kind = statPart
			return nil
		}
		return d.database(main).capture(ctx)
	}
	return d.file(ctx, it)
}

// hasFile reports whether the directory has a regular file of the name.
func (d *dirReader) hasFile(name string) bool {
	if it := d.list.item(name); it != nil {
		return it.line.Mode&dirfd.ModeType == dirfd.ModeRegular
	}
	line, ok := d.list.lines.Lookup(name)
	return ok && d.list.lines.Seen[line] && d.list.lines.Line(line).Mode&dirfd.ModeType == dirfd.ModeRegular
}

// item returns the item of a name, for changes; nil if the directory has no such name. A name that
// is as in the cache becomes an item.
func (d *dirReader) item(name string) *item {
	l := d.list
	if it := l.item(name); it != nil {
		return it
	}
	line, ok := l.lines.Lookup(name)
	if !ok {
		return nil
	}
	at := slices.Index(l.places, place(line))
	if at < 0 {
		return nil
	}
	it := item{line: l.lines.Line(line)}
	switch it.line.Kind {
	case statDir:
		return nil
	case statFile:
		e, err := l.before.find(name)
		if err != nil || e == nil {
			d.anew = true
			return nil
		}
		it.entry = *e
	}
	l.add(it)
	l.places = l.places[:len(l.places)-1]
	l.places[at] = place(^int32(len(l.items) - 1))
	return &l.items[len(l.items)-1]
}

// symlink reads the target of a symbolic link.
func (d *dirReader) symlink(it *item) error {
	name := it.line.Name
	for range attempts {
		err := d.n.dir.Stat(name, &d.st)
		if err == nil && !d.st.IsSymlink() {
			break
		}
		var target string
		if err == nil {
			target, err = d.n.dir.Readlink(name)
		}
		if err == nil {
			err = d.n.dir.Stat(name, &d.after)
		}
		if err != nil {
			return d.failed(it, err)
		}
		if !unmoved(&d.st, &d.after) {
			continue
		}
		xattrs, err := dirfd.EntryXattrs(d.n.dir, name).List()
		if err != nil {
			return d.failed(it, err)
		}
		e := band.Entry{Name: name, Kind: band.Symlink, Attr: AttrOf(&d.st), Target: target}
		d.settled(it, e, content{xattrs: xattrs})
		return nil
	}
	d.unsure(it, band.Moving)
	return nil
}

// file reads a regular file.
func (d *dirReader) file(ctx context.Context, it *item) error {
	if err := d.take(it); err != nil {
		return err
	}
	name := it.line.Name
	for attempt := range attempts {
		if attempt > 0 {
			select {
			case <-time.After(attemptPause):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		c, err := d.read(name)
		if err == nil {
			d.settled(it, d.entryOf(name, c), c)
			return nil
		}
		if errors.Is(err, errDatabase) {
			return d.database(name).capture(ctx)
		}
		if !errors.Is(err, ErrMoved) {
			return d.failed(it, err)
		}
	}
	d.unsure(it, band.Moving)
	return nil
}

// fileReader reads and stores the contents of the files of one directory.
type fileReader struct {
	*reader

	n     *node
	list  *listing
	plain string // a database that is read like other files
}

// content is the stored content of a file; the reader's st has its stat data.
type content struct {
	ref   band.Ref
	parts bool
	bands []uint32 // that the parts refer to
	// xattrs are the file's extended attributes.
	xattrs []dirfd.Xattr
}

func (fr *fileReader) entryOf(name string, c content) band.Entry {
	e := band.Entry{
		Name: name, Kind: band.File, Attr: AttrOf(&fr.st), Size: fr.st.Size, Content: c.ref, Parts: c.parts,
	}
	if fr.st.Nlink > 1 {
		e.Link = fr.st.Ino
	}
	return e
}

// read reads the whole file once.
func (fr *fileReader) read(name string) (content, error) {
	if fr.buf == nil {
		fr.buf = make([]byte, smallFile)
	}
	n, xattrs, err := fr.n.dir.ReadSettled(name, fr.buf, &fr.st, &fr.after)
	switch {
	case err != nil:
		return content{}, err
	case n < 0 || sparse(&fr.st):
		return fr.readLarge(name)
	case int64(n) != fr.st.Size || !unmoved(&fr.st, &fr.after):
		return content{}, ErrMoved
	case name != fr.plain && sqlite.IsDatabase(fr.buf[:n]):
		return content{}, errDatabase
	}
	ref, err := fr.store(fr.buf[:n], fr.entryBefore(name))
	return content{ref: ref, xattrs: xattrs}, err
}

// sparse reports whether the file may have holes.
func sparse(st *dirfd.Stat) bool { return st.Size >= 4096 && st.Blocks*512 < st.Size }

// unmoved reports whether two stats of a file are the same.
func unmoved(a, b *dirfd.Stat) bool {
	return a.Ino == b.Ino && a.Size == b.Size && a.Mtime == b.Mtime && a.Ctime == b.Ctime && a.Mode == b.Mode
}

// store stores the content of a file as one record; before is the former entry of its name.
func (fr *fileReader) store(data []byte, before *band.Entry) (band.Ref, error) {
	if len(data) == 0 {
		return band.Ref{}, nil
	}
	if before != nil && before.Kind == band.File && !before.Parts && before.Size == int64(len(data)) &&
		before.Content.Hash == sha256.Sum256(data) {
		ref, err := fr.to.keep(before.Content, band.DataRecord, data)
		return ref, kept(err)
	}
	ref, err := fr.to.Add(band.DataRecord, data)
	return ref, kept(err)
}

// settled completes an item from d.st, the entry and the stored content.
func (d *dirReader) settled(it *item, e band.Entry, c content) {
	e.Attr.Xattrs = xattrsOf(c.xattrs)
	it.line = d.lineOf(it.line.Name, &d.st)
	it.entry, it.bands = e, c.bands
}

// lineOf returns the cache's line for a file.
func (fr *fileReader) lineOf(name string, st *dirfd.Stat) StatLine {
	e := StatLine{
		Name: name, Kind: statFile, Mode: st.Mode, Ino: st.Ino, Mtime: st.Mtime, Ctime: st.Ctime, Size: st.Size,
	}
	if fr.racy(st) {
		e.Ino = 0
	}
	return e
}

// failed completes an item whose file can't be read.
func (d *dirReader) failed(it *item, err error) error {
	if isStoreError(err) || IsFatal(err) {
		return err
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was removed
	}
	d.unsure(it, band.Unreadable)
	return nil
}

// unsure makes the item unknown, notes its path, and lets the next walk read it again.
func (d *dirReader) unsure(it *item, why band.UnknownReason) {
	name := it.line.Name
	if d.n.dir.Stat(name, &d.st) != nil {
		d.st = dirfd.Stat{}
	}
	it.line = StatLine{Name: name, Kind: statFile, Mode: d.st.Mode, Mtime: d.st.Mtime, Ctime: d.st.Ctime, Size: d.st.Size}
	it.entry = unknownEntry(name, why, &d.st)
	path := band.JoinPath(d.path, name)
	d.note(func(all *notes) {
		if why == band.Unreadable {
			all.unreadable = append(all.unreadable, path)
		} else {
			all.moving = append(all.moving, path)
		}
	})
}

// storeError is an error of the store, not of the tree.
type storeError struct{ err error }

func (e *storeError) Error() string { return e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// kept marks an error as one of the store.
func kept(err error) error {
	if err == nil {
		return nil
	}
	return &storeError{err}
}

func isStoreError(err error) bool {
	var e *storeError
	return errors.As(err, &e) || errors.Is(err, errOverRoom)
}
