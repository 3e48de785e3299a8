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

	"github.com/seed-3aff656d/entire/bands/sqlite"
	"github.com/seed-3aff656d/entire/bands/statcache"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// patience is how long a database may keep a walk waiting.
const patience = 50 * time.Millisecond

// startsDatabase reports whether the file of the name is a database.
func (l *looker) startsDatabase(name string) bool {
	f, err := l.n.dir.OpenFile(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return IsDatabase(f)
}

// IsDatabase reports whether the file is a database, by its beginning.
func IsDatabase(f *os.File) bool {
	var head [16]byte
	n, err := f.ReadAt(head[:], 0)
	return err == nil && sqlite.IsDatabase(head[:n])
}

// database reads a database and the files that belong to it, all as they were
// at one moment.
func (l *looker) database(ctx context.Context, main string) error {
	if err := l.take(l.item(main)); err != nil {
		return err
	}
	var taken []item
	var inner error
	err := sqlite.Capture(ctx, l.n.dir.Path(), main, patience, func(name string, f *os.File, st dirfd.Stat) error {
		if name == main {
			taken = taken[:0]
		}
		it := item{line: statcache.Line{Name: name}}
		l.st = st
		c, err := l.readFrom(name, f)
		if err == nil {
			var unread error
			if c.xattrs, unread = l.n.dir.EntryXattrs(name).List(); unread == nil {
				l.settled(&it, l.entryOf(name, c), c)
			} else {
				err = l.failed(&it, unread)
			}
		}
		inner = err
		taken = append(taken, it)
		return err
	})
	switch {
	case inner != nil && (isStoreError(inner) || IsFatal(inner)):
		return inner
	case ctx.Err() != nil:
		return ctx.Err()
	case IsFatal(err):
		return err
	}
	l.companions(main)
	switch {
	case err == nil:
		l.took(taken)
	case errors.Is(err, fs.ErrNotExist):
		// The main file went: what is left is no database.
		return l.strays(ctx, main)
	case errors.Is(err, syscall.ENAMETOOLONG):
		// The names of the files beside it would be too long: it has none.
		l.plain = main
		return l.file(ctx, l.item(main))
	case errors.Is(err, sqlite.ErrBusy), errors.Is(err, ErrMoved):
		l.refuse(main, tree.Busy)
	default:
		l.refuse(main, tree.Unreadable)
	}
	return nil
}

// readFrom stores the content of a database's file; l.st has its data.
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

// layout returns where the holes of a database's file are, of which f may be a
// copy that has none: as the file of that name has them, if it hasn't changed
// since, else where there are pages of zeros.
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
		return nil // then reading f fails too
	}
	return list
}

// zeroPages is disk.Segments for a file that has lost its holes: each page of
// zeros was one.
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

// companions marks the files of a database as taken along: what took doesn't
// bring is gone.
func (l *looker) companions(main string) {
	for _, name := range append([]string{main}, companionsOf(main)...) {
		it := l.item(name)
		switch {
		case it == nil:
		case isShared(name):
			it.line.Kind = statcache.Part
			it.entry = tree.Entry{}
		case l.hasFile(name):
			it.line.Kind = statcache.Pending
		}
	}
}

func companionsOf(main string) []string {
	all := sqlite.Companions(main)
	return all[:]
}

// took puts what was captured in its place.
func (l *looker) took(taken []item) {
	for _, it := range taken {
		if at := l.item(it.line.Name); at != nil {
			*at = it
		} else {
			l.list.add(it)
		}
	}
}

// refuse makes the files of a database unknown.
func (l *looker) refuse(main string, why tree.Reason) {
	for _, name := range append([]string{main}, companionsOf(main)...) {
		it := l.item(name)
		if it == nil || it.line.Kind == statcache.Part {
			continue
		}
		l.unsure(it, why)
		path := tree.JoinPath(l.path, name)
		l.note(func(all *notes) {
			if why == tree.Unreadable {
				all.unreadable = append(all.unreadable, path)
			} else {
				all.moving = append(all.moving, path)
			}
		})
	}
}

// strays reads the files of a database that went, as files.
func (l *looker) strays(ctx context.Context, main string) error {
	for _, name := range companionsOf(main) {
		it := l.item(name)
		if it == nil || it.line.Mode&dirfd.ModeType != dirfd.ModeRegular {
			continue
		}
		it.line.Kind = statcache.Pending
		if err := l.file(ctx, it); err != nil {
			return err
		}
	}
	return nil
}
