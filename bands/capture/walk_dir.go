package capture

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/statcache"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// readDir reads a directory that isn't as the cache has it, or that the cache
// doesn't have, and returns its subdirectories. The first verified lines of the
// cache hold; their subdirectories are in r.kids.
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
		if d.list.lines, ok = n.old.Index(); !ok {
			return nil, statcache.ErrUnusable
		}
	}
	d.maybe = r.maybe(n)
	names, err := d.names()
	if err != nil {
		return nil, r.lost(n, err)
	}
	d.alien = true // with these names it is a store
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
		if d.list.items[at].line.Kind != statcache.Pending {
			continue // a database took it along
		}
		if err := d.readItem(ctx, at); err != nil {
			return nil, err
		}
	}
	r.count(len(d.list.places))
	if d.anew || !d.same || len(d.todo) > 0 || len(d.list.places) != len(d.list.lines.Starts) {
		n.found = d.list // it has to be stored, or its block written
	}
	return r.kids, nil
}

// dirReader compares one directory with the cache, and reads what is new.
type dirReader struct {
	fileReader

	path  string
	maybe maybe // what may differ from the cache
	same  bool  // the directory's own data is the cache's
	alien bool  // it is the store of another repository
	todo  []int // items whose content has to be read
	anew  bool  // something is not as in the cache
}

// names reads the directory's own data, and returns its names in the order in which the file system has
// them.
func (d *dirReader) names() ([]string, error) {
	if err := d.n.dir.Self(&d.st); err != nil {
		return nil, err
	}
	d.list.own = statcache.Line{Kind: statcache.Dir, Mode: d.st.Mode, Ino: d.st.Ino, Mtime: d.st.Mtime, Ctime: d.st.Ctime}
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

// compare compares one name with what is known, and notes what has to be done.
func (d *dirReader) compare(name string) error {
	if d.rules.Hides(d.path, name) {
		return nil
	}
	var was statcache.Line
	line, known := d.list.lines.Find(name)
	if known {
		was = d.list.lines.Line(line)
		if was.Kind != statcache.Part && !d.maybe.has(name) {
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
				line:  statcache.Line{Name: name, Kind: statcache.File},
				entry: unknownEntry(name, tree.Unreadable, &dirfd.Stat{}),
			})
			path := tree.JoinPath(d.path, name)
			d.note(func(all *notes) { all.unreadable = append(all.unreadable, path) })
		}
		return nil
	}
	if why := d.skipped(name, was); why != 0 {
		if was.Kind == statcache.Skipped && was.Reason == why {
			d.list.keep(line)
			return nil
		}
		d.anew = true
		d.list.add(item{
			line: statcache.Line{Name: name, Kind: statcache.Skipped, Reason: why},
			// What isn't looked at may change without the tree being another one.
			entry: unknownEntry(name, why, &dirfd.Stat{}),
		})
		return nil
	}
	if st.IsDir() {
		var old statcache.Directory
		if was.Kind == statcache.Dir {
			old, _ = d.cache.Child(d.n.old, was)
		}
		kid := d.n.adopt(name, old, st)
		d.kids = append(d.kids, kid)
		if was.Kind == statcache.Dir {
			d.list.keep(line)
			return nil
		}
		d.anew = true
		d.list.add(item{line: d.lineOf(name, st), kid: kid})
		return nil
	}
	if was.Kind == statcache.File && was.Same(st) {
		d.list.keep(line)
		return nil
	}
	it := item{line: d.lineOf(name, st), bytes: min(st.Size, st.Blocks*512), again: was.Unsure(st)}
	it.line.Kind = statcache.Pending
	d.todo = append(d.todo, len(d.list.items))
	d.list.add(it)
	return nil
}

// skipped is why the entry in d.st isn't looked at, 0 if it is.
func (d *dirReader) skipped(name string, was statcache.Line) tree.Reason {
	isDir := d.st.IsDir()
	if why := d.rules.Reason(d.path, name, isDir); why != 0 {
		return why
	}
	switch {
	case d.alien:
		return tree.Excluded
	case d.foreign(&d.st):
		return tree.OtherFileSystem
	case !isDir:
		return 0
	case d.leaves(d.n, name):
		d.staysOut(d.n, name)
		return tree.Budget
	case was.Kind == statcache.Skipped && was.Reason == tree.Budget && d.staysOut(d.n, name):
		return tree.Budget
	}
	return 0
}

// entryBefore is what was stored under the name; nil if nothing was.
func (fr *fileReader) entryBefore(name string) *tree.Entry {
	if fr.list.before == nil {
		return nil
	}
	e, err := fr.list.before.find(name)
	if err != nil {
		return nil // it is stored anew
	}
	return e
}
