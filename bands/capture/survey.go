package capture

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

const (
	// fitAgain is how many seconds a directory that didn't fit stays left out before the tree is
	// measured again.
	fitAgain = 24 * 60 * 60
	// leastLeft is the minimum size of a directory that is worth leaving out.
	leastLeft = 1 << 20
)

// leftOut lists the directories that a walk leaves out so that the tree fits the store's cap.
type leftOut struct {
	paths   map[string]bool // nil: as the last time
	room    int64           // new bytes that may be read; negative: any number
	entries int64           // of the tree, 0 if they weren't counted
	fit     CapFit
	exact   bool // fit's weight includes all that the walk will read
}

// leftOut returns the directories that the walk leaves out: those of the cache, if it is not old,
// until the changes exceed the room.
func (t *taking) leftOut(ctx context.Context) (leftOut, error) {
	cache := t.base.cache
	switch {
	case t.o.Force && cache != nil:
		return leftOut{room: -1, fit: cache.Fit}, nil
	case t.o.Force:
		left := leftOut{room: -1, fit: CapFit{Capacity: t.set.Cap, At: t.set.Now().Unix()}}
		if t.o.Progress != nil {
			top, err := t.survey(ctx)
			if err != nil {
				return leftOut{}, err
			}
			left.entries = top.entries
		}
		return left, nil
	case cache == nil || cache.Fit.Capacity != t.set.Cap:
		return t.makeFit(ctx)
	case t.set.Now().Unix()-cache.Fit.At > fitAgain && len(t.parent.LeftOut) > 0:
		return t.makeFit(ctx)
	}
	return leftOut{room: max(t.set.Cap-cache.Fit.Weight, 0), fit: cache.Fit}, nil
}

// makeFit measures the tree and chooses the directories to leave out: the largest that git ignores,
// until the rest fits.
func (t *taking) makeFit(ctx context.Context) (leftOut, error) {
	top, err := t.survey(ctx)
	if err != nil {
		return leftOut{}, err
	}
	left := leftOut{
		paths: map[string]bool{}, room: -1, entries: top.entries, exact: true,
		fit: CapFit{Capacity: t.set.Cap, At: t.set.Now().Unix(), Weight: top.bytes},
	}
	if top.bytes <= t.set.Cap {
		return left, nil
	}
	ignored, err := t.ignored(ctx, top)
	if err != nil {
		return leftOut{}, err
	}
	for _, d := range ignored {
		if left.fit.Weight <= t.set.Cap {
			break
		}
		left.paths[d.path] = true
		left.fit.Weight -= d.bytes
		left.entries -= d.entries
	}
	if left.fit.Weight > t.set.Cap {
		return leftOut{}, fmt.Errorf("%w: the tree has %d bytes that git doesn't ignore, and the limit is %d",
			bands.ErrNoRoom, left.fit.Weight, t.set.Cap)
	}
	return left, nil
}

// ignored returns the topmost directories that git ignores, the largest first.
func (t *taking) ignored(ctx context.Context, top *weighed) ([]*weighed, error) {
	if t.set.Ignored == nil {
		return nil, nil
	}
	byPath := map[string]*weighed{}
	top.each(func(d *weighed) {
		if d.path != "" && d.bytes >= leastLeft {
			byPath[d.path] = d
		}
	})
	ignored, err := t.set.Ignored(ctx, slices.Sorted(maps.Keys(byPath)))
	if err != nil {
		return nil, fmt.Errorf("list ignored directories: %w", err)
	}
	slices.Sort(ignored)
	var list []*weighed
	last := "\x00"
	for _, path := range ignored {
		path = strings.TrimSuffix(path, "/")
		if d := byPath[path]; d != nil && !strings.HasPrefix(path, last+"/") {
			list = append(list, d)
			last = path
		}
	}
	slices.SortFunc(list, func(a, b *weighed) int { return cmp.Compare(b.bytes, a.bytes) })
	return list, nil
}

// weighed is a directory with the total size of its contents.
type weighed struct {
	path           string
	bytes, entries int64
	kids           []*weighed
}

func (d *weighed) each(visit func(*weighed)) {
	visit(d)
	for _, kid := range d.kids {
		kid.each(visit)
	}
}

// survey measures the tree without reading files.
func (t *taking) survey(ctx context.Context) (*weighed, error) {
	s := &surveyor{rules: t.base.rules, free: make(chan struct{}, Workers(t.set.Workers)-1)}
	dir, err := dirfd.OpenRoot(t.set.Root)
	if err != nil {
		return nil, err
	}
	var st dirfd.Stat
	if err := dir.Self(&st); err != nil {
		return nil, err
	}
	s.dev = st.Dev
	top := &weighed{}
	s.weigh(ctx, dir, top)
	return top, ctx.Err()
}

// surveyor measures several directories concurrently.
type surveyor struct {
	rules *Rules
	dev   uint64
	free  chan struct{} // a slot for each goroutine beside the first
}

// weigh measures the open directory, and closes it. Entries that can't be read weigh nothing.
func (s *surveyor) weigh(ctx context.Context, dir *dirfd.Dir, to *weighed) {
	defer func() { _ = dir.Close() }()
	var names []string
	_ = dir.Names(make([]byte, namesRoom/8), func(name []byte, _ byte) error {
		names = append(names, string(name))
		return nil
	})
	var group sync.WaitGroup
	for _, name := range names {
		var st dirfd.Stat
		if ctx.Err() != nil || s.rules.Hides(to.path, name) || dir.Stat(name, &st) != nil {
			continue
		}
		to.entries++
		if s.rules.Reason(to.path, name, st.IsDir()) != 0 {
			continue
		}
		if !st.IsDir() {
			to.bytes += min(max(st.Size, 0), st.Blocks*512)
			continue
		}
		if st.Dev != s.dev || st.Mounted {
			continue
		}
		below, err := dir.Open(name)
		if err != nil {
			continue
		}
		kid := &weighed{path: band.JoinPath(to.path, name)}
		to.kids = append(to.kids, kid)
		select {
		case s.free <- struct{}{}:
			group.Go(func() {
				defer func() { <-s.free }()
				s.weigh(ctx, below, kid)
			})
		default: // no free slot
			s.weigh(ctx, below, kid)
		}
	}
	group.Wait()
	for _, kid := range to.kids {
		to.bytes += kid.bytes
		to.entries += kid.entries
	}
}
