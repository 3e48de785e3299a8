package capture

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// readDir reads a directory that isn't as in the cache, or isn't in the cache at all, and returns
// its subdirectories. The first verified lines of the cache are valid; their subdirectories are in
// r.kids.
func (r *reader) readDir(ctx context.Context, n *node, verified int) ([]*node, error) {
	d := &dirReader{fileReader: fileReader{reader: r, n: n, list: &listing{}}, path: n.path()}
	if !n.old.Known() {
		n.old, n.stray = r.renamed(&n.st), true
	}
	if n.old.Known() {
		var err error
		if d.list.before, err = newFormer(r.base, n.old.Record()); err != nil {
			return nil, err
		}
		var ok bool
		if d.list.lines, ok = n.old.index(); !ok {
			return nil, errUnusable
		}
	}
	d.maybe = r.maybe(n)
	names, err := d.names()
	if err != nil {
		return nil, r.lost(n, err)
	}
	d.alien = true // directories with all these names are stores
	for _, name := range []string{bands.InfoFile, bands.TagFile, bands.BandsFolder, bands.SnapshotsFolder} {
		d.alien = d.alien && slices.Contains(names, name)
	}
	if !d.same || d.strict {
		verified = 0
	}
	if verified == 0 {
		r.kids = r.kids[:0]
	}
	d.list.places = make([]place, 0, len(names))
	for line := range verified {
		d.list.keep(int32(line))
	}
	for _, name := range names[verified:] {
		if err := d.compare(name); err != nil {
			return nil, err
		}
	}
	for _, at := range d.todo {
		if d.list.items[at].line.Kind != statPending {
			continue // it was read with a database
		}
		if err := d.readItem(ctx, at); err != nil {
			return nil, err
		}
	}
	r.count(len(d.list.places))
	if d.anew || !d.same || len(d.todo) > 0 || len(d.list.places) != len(d.list.lines.Starts) {
		n.found = d.list // it has to be stored, or its block has to be written
	}
	return r.kids, nil
}

// dirReader compares one directory with the cache, and reads the differing files.
type dirReader struct {
	fileReader

	path  string
	maybe maybe // may differ from the cache
	same  bool  // the directory's own stat data is as in the cache
	alien bool  // it is the store of another repository
	todo  []int // items whose content has to be read
	anew  bool  // an entry is not as in the cache
}

// names reads the directory's own stat data, and returns its names in the order of the file system.
func (d *dirReader) names() ([]string, error) {
	if err := d.n.dir.Self(&d.st); err != nil {
		return nil, err
	}
	d.list.own = StatLine{Kind: statDir, Mode: d.st.Mode, Ino: d.st.Ino, Mtime: d.st.Mtime, Ctime: d.st.Ctime}
	if d.racy(&d.st) {
		d.list.own.Ino = 0
	}
	d.same = d.n.old.Known() && d.n.old.Same(&d.st)
	names := make([]string, 0, len(d.list.lines.Starts))
	if d.same && !d.strict {
		for i := range d.list.lines.Starts {
			names = append(names, d.list.lines.Name(int32(i)))
		}
	} else {
		if d.reader.names == nil {
			d.reader.names = make([]byte, namesRoom)
		}
		err := d.n.dir.Names(d.reader.names, func(name []byte, _ byte) error {
			names = append(names, string(name))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if d.same {
		d.list.attr = d.list.before.dir.Attr
		return names, nil
	}
	d.list.attr = AttrOf(&d.st)
	xattrs, err := dirfd.DirXattrs(d.n.dir).List()
	d.list.attr.Xattrs = xattrsOf(xattrs)
	return names, err
}

// compare compares one name with the cache, and adds an item if it has to be read.
func (d *dirReader) compare(name string) error {
	if d.rules.Hides(d.path, name) {
		return nil
	}
	var was StatLine
	line, known := d.list.lines.Find(name)
	if known {
		was = d.list.lines.Line(line)
		if was.Kind != statPart && !d.maybe.has(name) {
			d.list.keep(line)
			return nil
		}
	}
	st := &d.st
	if err := d.n.dir.Stat(name, st); err != nil {
		if IsFatal(err) {
			return err
		}
		d.anew = true
		if !errors.Is(err, fs.ErrNotExist) {
			d.list.add(item{
				line:  StatLine{Name: name, Kind: statFile},
				entry: unknownEntry(name, band.Unreadable, &dirfd.Stat{}),
			})
			path := band.JoinPath(d.path, name)
			d.note(func(all *notes) { all.unreadable = append(all.unreadable, path) })
		}
		return nil
	}
	if why := d.skipped(name, was); why != 0 {
		if was.Kind == statSkipped && was.Reason == why {
			d.list.keep(line)
			return nil
		}
		d.anew = true
		d.list.add(item{
			line: StatLine{Name: name, Kind: statSkipped, Reason: why},
			// Skipped entries have no stat data: a change of it must not change the tree.
			entry: unknownEntry(name, why, &dirfd.Stat{}),
		})
		return nil
	}
	if st.IsDir() {
		var old StatDirectory
		if was.Kind == statDir {
			old, _ = d.cache.Child(d.n.old, was)
		}
		kid := d.n.adopt(name, old, st)
		d.kids = append(d.kids, kid)
		if was.Kind == statDir {
			d.list.keep(line)
			return nil
		}
		d.anew = true
		d.list.add(item{line: d.lineOf(name, st), kid: kid})
		return nil
	}
	if was.Kind == statFile && was.Same(st) {
		d.list.keep(line)
		return nil
	}
	it := item{line: d.lineOf(name, st), bytes: min(st.Size, st.Blocks*512), again: was.Unsure(st)}
	it.line.Kind = statPending
	d.todo = append(d.todo, len(d.list.items))
	d.list.add(it)
	return nil
}

// skipped returns the reason why the entry in d.st is skipped, 0 if it isn't.
func (d *dirReader) skipped(name string, was StatLine) band.UnknownReason {
	isDir := d.st.IsDir()
	if why := d.rules.Reason(d.path, name, isDir); why != 0 {
		return why
	}
	switch {
	case d.alien:
		return band.Excluded
	case d.foreign(&d.st):
		return band.OtherFileSystem
	case !isDir:
		return 0
	case d.leaves(d.n, name):
		d.staysOut(d.n, name)
		return band.Budget
	case was.Kind == statSkipped && was.Reason == band.Budget && d.staysOut(d.n, name):
		return band.Budget
	}
	return 0
}

// entryBefore returns the former entry of the name; nil if there is none.
func (fr *fileReader) entryBefore(name string) *band.Entry {
	if fr.list.before == nil {
		return nil
	}
	e, err := fr.list.before.find(name)
	if err != nil {
		return nil // it is stored again
	}
	return e
}
