package capture

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/sqlite"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// patience is the maximum time that a database may block a walk.
const patience = 50 * time.Millisecond

// startsDatabase reports whether the named file is a database.
func (d *dirReader) startsDatabase(name string) bool {
	f, err := d.n.dir.OpenFile(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return IsDatabase(f)
}

// IsDatabase reports whether the file is a database, judging by its first bytes.
func IsDatabase(f *os.File) bool {
	var head [16]byte
	n, err := f.ReadAt(head[:], 0)
	return err == nil && sqlite.IsDatabase(head[:n])
}

// database is a database that is read together with its other files, as they were at one moment.
type database struct {
	dir   *dirReader
	main  string // the name of the main file
	taken []item // by this attempt
	err   error  // from reading the last file
}

func (d *dirReader) database(main string) *database { return &database{dir: d, main: main} }

// capture reads the database.
func (db *database) capture(ctx context.Context) error {
	d := db.dir
	if err := d.take(d.item(db.main)); err != nil {
		return err
	}
	err := sqlite.Capture(ctx, d.n.dir.Path(), db.main, patience, db.read)
	switch {
	case db.err != nil && (isStoreError(db.err) || IsFatal(db.err)):
		return db.err
	case ctx.Err() != nil:
		return ctx.Err()
	case IsFatal(err):
		return err
	}
	// The files are part of the database. Those that the capture doesn't return no longer exist.
	for _, name := range db.files() {
		it := d.item(name)
		switch {
		case it == nil:
		case isShared(name):
			it.line.Kind = statPart
			it.entry = band.Entry{}
		case d.hasFile(name):
			it.line.Kind = statPending
		}
	}
	switch {
	case err == nil:
		for _, it := range db.taken {
			if at := d.item(it.line.Name); at != nil {
				*at = it
			} else {
				d.list.add(it)
			}
		}
	case errors.Is(err, fs.ErrNotExist):
		// The main file was removed: the rest is no database.
		return db.strays(ctx)
	case errors.Is(err, syscall.ENAMETOOLONG):
		// The names of its companion files would be too long, so it has none.
		d.plain = db.main
		return d.file(ctx, d.item(db.main))
	case errors.Is(err, sqlite.ErrBusy), errors.Is(err, ErrMoved):
		db.refuse(band.Busy)
	default:
		db.refuse(band.Unreadable)
	}
	return nil
}

// read reads one of the files. Each attempt reads the main file first.
func (db *database) read(name string, f *os.File, st dirfd.Stat) error {
	if name == db.main {
		db.taken = db.taken[:0]
	}
	d := db.dir
	it := item{line: StatLine{Name: name}}
	d.st = st
	c, err := d.readFrom(name, f)
	if err == nil {
		var unread error
		if c.xattrs, unread = dirfd.EntryXattrs(d.n.dir, name).List(); unread == nil {
			d.settled(&it, d.entryOf(name, c), c)
		} else {
			err = d.failed(&it, unread)
		}
	}
	db.err = err
	db.taken = append(db.taken, it)
	return err
}

// readFrom stores the content of a database's file; d.st has its stat data.
func (fr *fileReader) readFrom(name string, f *os.File) (content, error) {
	if fr.st.Size > smallFile || sparse(&fr.st) {
		src := source{file: f, size: fr.st.Size, before: fr.partsBefore(name)}
		if sparse(&fr.st) {
			src.layout = fr.layout(name, f)
		}
		parts, err := fr.parts(src)
		if err != nil {
			return content{}, err
		}
		return fr.listed(parts, fr.entryBefore(name))
	}
	if fr.buf == nil {
		fr.buf = make([]byte, smallFile)
	}
	data := fr.buf[:fr.st.Size]
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, fr.st.Size), data); err != nil {
		return content{}, cut(err)
	}
	ref, err := fr.store(data, fr.entryBefore(name))
	return content{ref: ref}, err
}

// layout returns the holes of the named file of a database; f may be a copy without holes. They are
// read from the named file itself if it hasn't changed since, else pages of zeros count as holes.
func (fr *fileReader) layout(name string, f *os.File) []segment {
	var list []segment
	add := func(off, n int64, hole bool) error {
		list = append(list, segment{off, n, hole})
		return nil
	}
	if own, err := fr.n.dir.OpenFile(name); err == nil {
		defer func() { _ = own.Close() }()
		err := disk.Segments(own, fr.st.Size, add)
		if err == nil && dirfd.StatFile(own, &fr.after) == nil && unmoved(&fr.st, &fr.after) {
			return list
		}
	}
	list = nil
	if zeroPages(f, fr.st.Size, add) != nil {
		return nil // then reading f fails, too
	}
	return list
}

// zeroPages is disk.Segments for a file that has lost its holes: each page of zeros counts as one.
func zeroPages(f *os.File, size int64, yield func(off, n int64, hole bool) error) error {
	const page = 4 << 10
	buf, zeros := make([]byte, page), make([]byte, page)
	var from int64
	var hole bool
	for off := int64(0); off < size; off += page {
		b := buf[:min(page, size-off)]
		if _, err := f.ReadAt(b, off); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		is := bytes.Equal(b, zeros[:len(b)])
		if is != hole && off > from {
			if err := yield(from, off-from, hole); err != nil {
				return err
			}
			from = off
		}
		hole = is
	}
	return yield(from, size-from, hole)
}

// files returns the names of the main file and of its possible companions.
func (db *database) files() []string {
	companions := sqlite.Companions(db.main)
	return append([]string{db.main}, companions[:]...)
}

// refuse records the files as unknown.
func (db *database) refuse(why band.UnknownReason) {
	d := db.dir
	for _, name := range db.files() {
		if it := d.item(name); it != nil && it.line.Kind != statPart {
			d.unsure(it, why)
		}
	}
}

// strays reads the companions of a removed main file as ordinary files.
func (db *database) strays(ctx context.Context) error {
	for _, name := range sqlite.Companions(db.main) {
		it := db.dir.item(name)
		if it == nil || it.line.Mode&dirfd.ModeType != dirfd.ModeRegular {
			continue
		}
		it.line.Kind = statPending
		if err := db.dir.file(ctx, it); err != nil {
			return err
		}
	}
	return nil
}
