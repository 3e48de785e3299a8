package capture

import (
	"context"
	"errors"
	"io/fs"

	"github.com/seed-3aff656d/entire/bands/statcache"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// look reads a directory that isn't as the cache has it, or that the cache
// doesn't have, and returns its subdirectories. The first verified lines of the
// cache hold; their subdirectories are in r.kids.
func (r *reader) look(ctx context.Context, n *node, verified int) ([]*node, error) {
	l := &looker{fileReader: fileReader{reader: r, n: n, list: &listing{}}, path: n.path()}
	if err := l.prepare(); err != nil {
		return nil, err
	}
	names, err := l.names()
	if err == nil {
		err = l.own()
	}
	if err != nil {
		return nil, r.lost(n, err)
	}
	l.alien = isStore(names)
	if !l.same || l.strict {
		verified = 0
	}
	if verified == 0 {
		r.kids = r.kids[:0]
	}
	l.list.places = make([]place, 0, len(names))
	for line := range verified {
		l.list.keep(int32(line))
	}
	for _, name := range names[verified:] {
		if err := l.meet(name); err != nil {
			return nil, err
		}
	}
	if err := l.capture(ctx); err != nil {
		return nil, err
	}
	r.count(len(l.list.places))
	if l.differs() {
		n.found = l.list
	}
	return r.kids, nil
}

// looker is the look at one directory.
type looker struct {
	fileReader

	path  string
	same  bool  // the directory's own data is the cache's
	alien bool  // it is the store of another repository
	todo  []int // items whose content has to be read
	anew  bool  // something is not as in the cache
}

// prepare finds out what is known about the directory.
func (l *looker) prepare() error {
	if !l.n.old.Known() {
		l.n.old = l.renamed(&l.n.st)
	}
	if !l.n.old.Known() {
		return nil
	}
	var err error
	if l.list.before, err = newFormer(l.base, l.n.old.Record()); err != nil {
		return err
	}
	var ok bool
	if l.list.lines, ok = l.n.old.Index(); !ok {
		return statcache.ErrUnusable
	}
	return nil
}

// names are the directory's, in the order in which the file system has them.
func (l *looker) names() ([]string, error) {
	if err := l.n.dir.Self(&l.st); err != nil {
		return nil, err
	}
	l.list.own = statcache.Line{Kind: statcache.Dir, Mode: l.st.Mode, Ino: l.st.Ino, Mtime: l.st.Mtime, Ctime: l.st.Ctime}
	if l.racy(&l.st) {
		l.list.own.Ino = 0
	}
	l.same = l.n.old.Known() && l.n.old.Same(&l.st)
	l.list.attr = AttrOf(&l.st)
	names := make([]string, 0, len(l.list.lines.Starts))
	if l.same && !l.strict {
		for i := range l.list.lines.Starts {
			names = append(names, l.list.lines.Name(int32(i)))
		}
		return names, nil
	}
	if l.reader.names == nil {
		l.reader.names = make([]byte, namesRoom)
	}
	err := l.n.dir.Names(l.reader.names, func(name []byte, _ byte) error {
		names = append(names, string(name))
		return nil
	})
	return names, err
}

// own completes the directory's own attributes.
func (l *looker) own() error {
	if l.same {
		l.list.attr = l.list.before.dir.Attr
		return nil
	}
	xattrs, err := l.n.dir.Xattrs().List()
	l.list.attr.Xattrs = xattrsOf(xattrs)
	return err
}

// meet compares one name with what is known, and notes what has to be done.
func (l *looker) meet(name string) error {
	if l.rules.Hides(l.path, name) {
		return nil
	}
	st := &l.st
	if err := l.n.dir.Stat(name, st); err != nil {
		return l.unseen(name, err)
	}
	var was statcache.Line
	line, known := l.list.lines.Find(name)
	if known {
		was = l.list.lines.Line(line)
	}
	if why := l.skipped(name, was); why != 0 {
		if was.Kind == statcache.Skipped && was.Reason == why {
			l.list.keep(line)
			return nil
		}
		l.anew = true
		l.list.add(item{
			line: statcache.Line{Name: name, Kind: statcache.Skipped, Reason: why},
			// What isn't looked at may change without the tree being another one.
			entry: unknownEntry(name, why, &dirfd.Stat{}),
		})
		return nil
	}
	if st.IsDir() {
		kid := l.descend(name, was)
		if was.Kind == statcache.Dir {
			l.list.keep(line)
			return nil
		}
		l.anew = true
		l.list.add(item{line: l.lineOf(name, st), kid: kid})
		return nil
	}
	if was.Kind == statcache.File && was.Same(st) {
		l.list.keep(line)
		return nil
	}
	it := item{line: l.lineOf(name, st), bytes: min(st.Size, st.Blocks*512), again: was.Unsure(st)}
	it.line.Kind = statcache.Pending
	l.todo = append(l.todo, len(l.list.items))
	l.list.add(it)
	return nil
}

// unseen is for a name that was listed and can't be asked about.
func (l *looker) unseen(name string, err error) error {
	if IsFatal(err) {
		return err
	}
	l.anew = true
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	l.list.add(item{
		line:  statcache.Line{Name: name, Kind: statcache.File},
		entry: unknownEntry(name, tree.Unreadable, &dirfd.Stat{}),
	})
	l.unreadable(name)
	return nil
}

func (l *looker) unreadable(name string) {
	path := tree.JoinPath(l.path, name)
	l.note(func(all *notes) { all.unreadable = append(all.unreadable, path) })
}

// skipped is why the entry in l.st isn't looked at, 0 if it is.
func (l *looker) skipped(name string, was statcache.Line) tree.Reason {
	isDir := l.st.IsDir()
	if why := l.rules.Reason(l.path, name, isDir); why != 0 {
		return why
	}
	switch {
	case l.alien:
		return tree.Excluded
	case l.foreign(&l.st):
		return tree.OtherFileSystem
	case !isDir:
		return 0
	case l.leaves(l.n, name):
		l.staysOut(l.n, name)
		return tree.Budget
	case was.Kind == statcache.Skipped && was.Reason == tree.Budget && l.staysOut(l.n, name):
		return tree.Budget
	}
	return 0
}

// descend makes a node for the directory in l.st.
func (l *looker) descend(name string, was statcache.Line) *node {
	var old statcache.Directory
	if was.Kind == statcache.Dir {
		old, _ = l.cache.Child(l.n.old, was)
	}
	kid := l.n.adopt(name, old, &l.st)
	l.kids = append(l.kids, kid)
	return kid
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

// differs reports whether the directory has to be stored, or its block written.
func (l *looker) differs() bool {
	return l.anew || !l.same || len(l.todo) > 0 || len(l.list.places) != len(l.list.lines.Starts)
}
