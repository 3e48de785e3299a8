package restore

import (
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// observer compares a folder with the snapshot that was written into it, by stat data: any later
// change has a later change time. It removes changed and created files, so that the remaining ones
// are as they were written.
type observer struct {
	loader *observedLoader
	want   *band.DirectoryLoader // of the next snapshot
	keep   bool                  // keeps created files, unless they are in the way
	root   string
	since  int64
	free   chan struct{} // a slot for each goroutine beside the first
}

// observedLoader loads the present directories of the folder: those of the snapshot, and those that
// differ from it.
type observedLoader struct {
	records *band.DirectoryLoader

	mu   sync.Mutex                   // guards dirs
	dirs map[band.Ref]*band.Directory // that differ, by references of their own
}

// observed is the band number of references to directories that differ.
const observed = math.MaxUint32

// Directory implements band.Loader.
func (l *observedLoader) Directory(ref band.Ref) (*band.Directory, error) {
	if ref.Band != observed {
		return l.records.Directory(ref)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dirs[ref], nil
}

// Parts loads the list of a file's parts.
func (l *observedLoader) Parts(ref band.Ref) ([]band.Part, error) { return l.records.Parts(ref) }

// observedPlace is a directory, with its records in both snapshots; to is zero if the next one
// doesn't have it.
type observedPlace struct {
	path     string
	open     func() (*dirfd.Dir, error)
	from, to band.Ref
}

// listing is the present state of a directory.
type listing struct {
	observedPlace

	dir       *dirfd.Dir
	was, goal *band.Directory // goal is nil if the next snapshot has no such directory
	now       []band.Entry    // parallel to was.Entries; Kind 0: missing
	below     []observedPlace // directories that are in both, in the order of now
	at        []int           // their indexes in now
	changed   bool
}

// observe compares a directory and those below it. It returns the directory's reference in the
// loader, which is from if nothing changed.
func (o *observer) observe(ctx context.Context, p observedPlace) (ref band.Ref, err error) {
	if err := ctx.Err(); err != nil {
		return ref, err
	}
	l := listing{observedPlace: p}
	if l.dir, err = p.open(); err != nil {
		return ref, err
	}
	defer func() { err = errors.Join(err, l.dir.Close()) }()
	if l.was, err = band.LoadDir(o.loader.records, p.from); err != nil {
		return ref, err
	}
	switch {
	case p.to == p.from:
		l.goal = l.was
	case !p.to.IsZero():
		if l.goal, err = o.want.Directory(p.to); err != nil {
			return ref, err
		}
	}
	if err := o.list(&l); err != nil {
		return ref, err
	}
	if err := o.descend(ctx, &l); err != nil {
		return ref, err
	}
	attr := l.was.Attr
	var st dirfd.Stat
	if err := l.dir.Self(&st); err != nil {
		return ref, err
	}
	if st.Ctime >= o.since {
		xattrs, err := dirfd.DirXattrs(l.dir).List()
		if err != nil {
			return ref, err
		}
		attr = band.Attr{Mode: st.Mode & dirfd.ModePerm, UID: st.UID, GID: st.GID, Mtime: st.ModTime()}
		for _, x := range xattrs {
			attr.Xattrs = append(attr.Xattrs, band.Xattr(x))
		}
	}
	if !l.changed && attr.Equal(&l.was.Attr) {
		return p.from, nil
	}
	d := &band.Directory{Attr: attr, Totals: l.was.Totals, Bands: l.was.Bands}
	d.Entries = slices.DeleteFunc(l.now, func(e band.Entry) bool { return e.Kind == 0 })
	ref = band.Ref{Hash: sha256.Sum256([]byte(p.path)), Band: observed}
	o.loader.mu.Lock()
	o.loader.dirs[ref] = d
	o.loader.mu.Unlock()
	return ref, nil
}

// namesRoom is the size of the buffer for names, in bytes.
const namesRoom = 32 << 10

// list compares the names of a directory with its record.
func (o *observer) list(l *listing) error {
	l.now = make([]band.Entry, len(l.was.Entries))
	var others []string
	err := l.dir.Names(make([]byte, namesRoom), func(raw []byte, _ byte) error {
		name := string(raw)
		i, known := l.was.Find(name)
		switch {
		case l.path == "" && name == ".git":
		case known && l.was.Entries[i].Kind != band.Unknown:
			l.now[i] = l.was.Entries[i]
		default:
			others = append(others, name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range others {
		if o.keep && l.goal != nil {
			if _, inTheWay := l.goal.Find(name); !inTheWay {
				continue // files created by other programs are kept
			}
		}
		if err := o.remove(l, name); err != nil {
			return err
		}
	}
	for i := range l.now {
		was := &l.was.Entries[i]
		if l.now[i].Kind != 0 {
			if err := o.entry(l, i); err != nil {
				return err
			}
		}
		// Files whose content isn't in the snapshot aren't in the tree. The plan gets them as
		// missing if the next snapshot may have them.
		l.changed = l.changed || l.now[i].Kind == 0 && (was.Kind != band.Unknown || l.to != l.from)
	}
	return nil
}

// remove removes a file, or a directory with all below it.
func (o *observer) remove(l *listing, name string) error {
	var st dirfd.Stat
	err := l.dir.Stat(name, &st)
	switch {
	case err == nil && st.IsDir():
		err = disk.RemoveTree(filepath.Join(o.root, filepath.FromSlash(band.JoinPath(l.path, name))), nil)
	case err == nil:
		err = l.dir.Unlink(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// entry compares an existing entry.
func (o *observer) entry(l *listing, i int) error {
	e := &l.now[i]
	var st dirfd.Stat
	if err := l.dir.Stat(e.Name, &st); err != nil {
		return err
	}
	var goal *band.Entry // the entry of that name in the next snapshot
	if l.goal != nil {
		if j, ok := l.goal.Find(e.Name); ok {
			goal = &l.goal.Entries[j]
		}
	}
	// A plan leaves an existing file at a path that isn't written.
	same := goal == nil || goal.Kind != band.Unknown && !severed(e.Name, goal)
	if same && e.Kind == band.Dir && st.IsDir() {
		next := observedPlace{path: band.JoinPath(l.path, e.Name), from: e.Content}
		next.open = func() (*dirfd.Dir, error) {
			const ownerMay = 0o700
			if st.Mode&ownerMay != ownerMay { // its owner has no access
				if err := l.dir.Entry(e.Name).Chmod(st.Mode&dirfd.ModePerm | ownerMay); err != nil {
					return nil, err
				}
			}
			return l.dir.Open(e.Name)
		}
		if band.IsDir(goal) {
			next.to = goal.Content
		}
		l.below, l.at = append(l.below, next), append(l.at, i)
		return nil
	}
	same = same && st.Ctime < o.since && (e.Kind == band.Symlink && st.IsSymlink() || e.Kind == band.File && st.IsRegular() && st.Size == e.Size)
	if !same {
		name := e.Name
		*e = band.Entry{}
		return o.remove(l, name)
	}
	if mtime := st.ModTime(); !mtime.Equal(e.Attr.Mtime) {
		e.Attr.Mtime, l.changed = mtime, true
	}
	return nil
}

// descend observes the directories below one, some of them in other goroutines.
func (o *observer) descend(ctx context.Context, l *listing) error {
	refs, errs := make([]band.Ref, len(l.below)), make([]error, len(l.below))
	var group sync.WaitGroup
	for i, next := range l.below {
		do := func() { refs[i], errs[i] = o.observe(ctx, next) }
		select {
		case o.free <- struct{}{}:
			group.Go(func() {
				defer func() { <-o.free }()
				do()
			})
		default:
			do()
		}
	}
	group.Wait()
	for i, ref := range refs {
		if e := &l.now[l.at[i]]; e.Content != ref {
			e.Content, l.changed = ref, true
		}
	}
	return errors.Join(errs...)
}
