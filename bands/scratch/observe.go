package scratch

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
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// observer compares a folder with the snapshot that was written into it, by what stat
// returns: whatever changed since then has a later change time. It removes what was changed
// or created, so that what is left is as it was written.
type observer struct {
	loader *loader
	want   *tree.Records // of the snapshot that comes next
	keep   bool          // leaves what was created, unless it is in the way
	root   string
	since  int64
	free   chan struct{} // a place for each goroutine beside the first
}

// loader finds the directories of the folder as it is: those of the snapshot, and those
// that differ from it.
type loader struct {
	records *tree.Records

	mu   sync.Mutex                   // guards dirs
	dirs map[band.Ref]*tree.Directory // that differ, by references of their own
}

// observed is the band of references to directories that differ.
const observed = math.MaxUint32

// Directory implements tree.Loader.
func (l *loader) Directory(ref band.Ref) (*tree.Directory, error) {
	if ref.Band != observed {
		return l.records.Directory(ref)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dirs[ref], nil
}

// Parts loads the list of a file's parts.
func (l *loader) Parts(ref band.Ref) ([]band.Part, error) { return l.records.Parts(ref) }

// place is a directory, with its records in both snapshots; to is zero if the next one has
// none.
type place struct {
	path     string
	open     func() (*dirfd.Dir, error)
	from, to band.Ref
}

// listing is what is found of a directory.
type listing struct {
	place

	dir       *dirfd.Dir
	was, goal *tree.Directory // goal is nil if the next snapshot has no such directory
	now       []tree.Entry    // as was.Entries; of a zero Kind: nothing is there
	below     []place         // directories that are in both, in the order of now
	at        []int           // where they are in now
	changed   bool
}

// observe compares a directory and those below it. The result is its reference in the loader; it is
// from if all is as it was.
func (o *observer) observe(ctx context.Context, p place) (ref band.Ref, err error) {
	if err := ctx.Err(); err != nil {
		return ref, err
	}
	l := listing{place: p}
	if l.dir, err = p.open(); err != nil {
		return ref, err
	}
	defer func() { err = errors.Join(err, l.dir.Close()) }()
	if l.was, err = tree.LoadDir(o.loader.records, p.from); err != nil {
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
		attr = tree.Attr{Mode: st.Mode & dirfd.ModePerm, UID: st.UID, GID: st.GID, Mtime: st.ModTime()}
		for _, x := range xattrs {
			attr.Xattrs = append(attr.Xattrs, tree.Xattr(x))
		}
	}
	if !l.changed && attr.Equal(&l.was.Attr) {
		return p.from, nil
	}
	d := &tree.Directory{Attr: attr, Totals: l.was.Totals, Bands: l.was.Bands}
	d.Entries = slices.DeleteFunc(l.now, func(e tree.Entry) bool { return e.Kind == 0 })
	ref = band.Ref{Hash: sha256.Sum256([]byte(p.path)), Band: observed}
	o.loader.mu.Lock()
	o.loader.dirs[ref] = d
	o.loader.mu.Unlock()
	return ref, nil
}

// namesRoom is how many bytes of names are read at once.
const namesRoom = 32 << 10

// list compares the names of a directory with its record.
func (o *observer) list(l *listing) error {
	l.now = make([]tree.Entry, len(l.was.Entries))
	var others []string
	err := l.dir.Names(make([]byte, namesRoom), func(raw []byte, _ byte) error {
		name := string(raw)
		i, known := l.was.Find(name)
		switch {
		case l.path == "" && name == ".git":
		case known && l.was.Entries[i].Kind != tree.Unknown:
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
				continue // what others created stays
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
		// What no snapshot holds is in no scratch tree. The plan gets it as missing where
		// the next snapshot may have it.
		l.changed = l.changed || l.now[i].Kind == 0 && (was.Kind != tree.Unknown || l.to != l.from)
	}
	return nil
}

// remove removes a file, or a directory with all below it.
func (o *observer) remove(l *listing, name string) error {
	var st dirfd.Stat
	err := l.dir.Stat(name, &st)
	switch {
	case err == nil && st.IsDir():
		err = disk.RemoveTree(filepath.Join(o.root, filepath.FromSlash(tree.JoinPath(l.path, name))), nil)
	case err == nil:
		err = l.dir.Unlink(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// entry compares an entry that is there.
func (o *observer) entry(l *listing, i int) error {
	e := &l.now[i]
	var st dirfd.Stat
	if err := l.dir.Stat(e.Name, &st); err != nil {
		return err
	}
	var goal *tree.Entry // what the next snapshot has of the name
	if l.goal != nil {
		if j, ok := l.goal.Find(e.Name); ok {
			goal = &l.goal.Entries[j]
		}
	}
	// A plan leaves what is there of a path that isn't written.
	same := goal == nil || goal.Kind != tree.Unknown && !severed(e.Name, goal)
	if same && e.Kind == tree.Dir && st.IsDir() {
		next := place{path: tree.JoinPath(l.path, e.Name), from: e.Content}
		next.open = func() (*dirfd.Dir, error) {
			const ownerMay = 0o700
			if st.Mode&ownerMay != ownerMay { // it was closed to its owner
				if err := l.dir.Entry(e.Name).Chmod(st.Mode&dirfd.ModePerm | ownerMay); err != nil {
					return nil, err
				}
			}
			return l.dir.Open(e.Name)
		}
		if tree.IsDir(goal) {
			next.to = goal.Content
		}
		l.below, l.at = append(l.below, next), append(l.at, i)
		return nil
	}
	same = same && st.Ctime < o.since && (e.Kind == tree.Symlink && st.IsSymlink() || e.Kind == tree.File && st.IsRegular() && st.Size == e.Size)
	if !same {
		name := e.Name
		*e = tree.Entry{}
		return o.remove(l, name)
	}
	if mtime := st.ModTime(); !mtime.Equal(e.Attr.Mtime) {
		e.Attr.Mtime, l.changed = mtime, true
	}
	return nil
}

// descend observes the directories below one, some of them beside this goroutine.
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
