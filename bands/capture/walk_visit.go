package capture

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

const (
	namesRoom = 64 << 10
	// smallFile is the maximum length of a file that is stored as one record.
	smallFile = 4 << 20
)

// reader is one worker of a walk, with its buffers.
type reader struct {
	*walk

	names []byte
	buf   []byte
	enc   []byte
	st    dirfd.Stat
	after dirfd.Stat
	kids  []*node
}

// visit reads one directory, and finishes it and the parents for which it was the last pending one.
func (r *reader) visit(ctx context.Context, n *node) error {
	below, err := r.enter(ctx, n)
	if err != nil {
		n.closeOne()
		return err
	}
	n.pending.Add(int32(len(below)))
	n.users.Add(int32(len(below)))
	n.closeOne()
	r.push(below)
	for n != nil && n.pending.Add(-1) == 0 {
		if n.out.state == asBefore && (n.found != nil || len(n.differing) > 0) {
			if err := r.settle(n); err != nil {
				return err
			}
		}
		parent := n.parent
		if parent != nil && n.out.state != asBefore {
			parent.mu.Lock()
			parent.differing = append(parent.differing, n)
			parent.mu.Unlock()
		}
		n = parent
	}
	return nil
}

// enter opens the directory, compares or reads it, and returns the subdirectories to visit.
func (r *reader) enter(ctx context.Context, n *node) ([]*node, error) {
	if n.dir == nil {
		dir, err := n.parent.dir.Open(n.name)
		n.parent.closeOne()
		if err != nil {
			return nil, r.lost(n, err)
		}
		n.dir = dir
	}
	verified := 0
	if n.old.Known() && !r.strict && n.old.Same(&n.st) {
		var same bool
		if verified, same = r.unchanged(n); same {
			r.count(n.old.Count())
			return r.kids, nil
		}
	}
	return r.readDir(ctx, n, verified)
}

// lost sets the outcome of a directory that can't be opened or listed.
func (r *reader) lost(n *node, err error) error {
	if n.parent == nil || IsFatal(err) {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP):
		// It was removed or replaced: the next walk detects the change of its parent.
		n.out.state = gone
	default:
		n.out = outcome{state: unknown, reason: band.Unreadable}
		path := n.path()
		r.note(func(all *notes) { all.unreadable = append(all.unreadable, path) })
	}
	return nil
}

// IsFatal reports whether the error is about this process and not about a file.
func IsFatal(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// unchanged compares the entries of the directory with the cache, up to the first difference, and
// returns the number of valid lines. Their subdirectories are in r.kids.
func (r *reader) unchanged(n *node) (verified int, same bool) {
	r.kids = r.kids[:0]
	maybe := r.maybe(n)
	lines := n.old.Lines()
	var e StatLine
	for lines.Next(&e) {
		if !maybe.has(e.Name) {
			verified++
			continue
		}
		switch e.Kind {
		case statFile:
			if n.dir.Stat(e.Name, &r.st) != nil || !e.Same(&r.st) || r.st.Mounted {
				return verified, false
			}
		case statDir:
			old, ok := r.cache.Child(n.old, e)
			if !ok || n.dir.Stat(e.Name, &r.st) != nil || !r.st.IsDir() || r.foreign(&r.st) || r.leaves(n, e.Name) {
				return verified, false
			}
			r.kids = append(r.kids, n.adopt(e.Name, old, &r.st))
		case statSkipped:
			// Entries skipped by the rules aren't checked: the rules are the same.
			switch {
			case e.Reason == band.OtherFileSystem && (n.dir.Stat(e.Name, &r.st) != nil || !r.foreign(&r.st)),
				e.Reason == band.Budget && !r.staysOut(n, e.Name):
				return verified, false
			}
		}
		verified++
	}
	return verified, !lines.Bad
}

// maybe lists the entries of a directory that may differ from the cache.
type maybe struct {
	all    bool
	folder *TouchedFolder // nil if no entry does
}

func (m maybe) has(name string) bool { return m.all || m.folder != nil && m.folder.Has(name) }

// maybe returns the entries of the directory that may differ from the cache.
func (r *reader) maybe(n *node) maybe {
	if r.touched == nil || n.stray {
		return maybe{all: true}
	}
	return maybe{folder: r.touched[n.path()]}
}

// leaves reports whether the directory is left out because of the cap.
func (r *reader) leaves(n *node, name string) bool {
	return len(r.leave) > 0 && r.leave[band.JoinPath(n.path(), name)]
}

// staysOut reports whether a directory that was left out because of the cap stays so, and notes it.
func (r *reader) staysOut(n *node, name string) bool {
	path := band.JoinPath(n.path(), name)
	if !r.keepLeft || r.leave != nil && !r.leave[path] {
		return false
	}
	r.note(func(all *notes) { all.leftOut = append(all.leftOut, path) })
	return true
}
