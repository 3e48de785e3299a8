package bands

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// errChanged means that a path isn't what the rescue holds any more.
var errChanged = errors.New("changed since it was captured")

// applier carries a plan out.
type applier struct {
	root     string
	content  *contents
	source   *planner // reads again what the plan's steps need; nil of an export
	workers  int
	progress func(stage string, done, total int)

	unsynced bool // nobody relies on it after a crash
	flush    *flusher
	temp     atomic.Uint64 // numbers the temporary files
	verified atomic.Int64

	was      *contents // of the rescue
	captured int64     // the file system's time before the rescue was taken

	mu          sync.Mutex
	failed      []Failure
	unset       []Failure // restored but for an attribute
	failedPaths map[string]bool
	fatal       error // nothing more is begun
	done, total int
}

func newApplier(root string, content, was *contents) *applier {
	a := &applier{root: root, content: content, was: was, workers: min(max(runtime.NumCPU(), 2), 8), failedPaths: map[string]bool{}}
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails
	a.temp.Store(binary.LittleEndian.Uint64(seed[:]))
	return a
}

// run carries the plan out: what goes, then what comes and changes, then what
// has several names. Directories get their attributes when they are done. In
// the end all of it is on the disk. It returns an error if it had to stop.
func (a *applier) run(ctx context.Context, p *Plan) error {
	a.total = p.total()
	if a.unsynced {
		a.flush = &flusher{}
		return a.carryOut(ctx, p)
	}
	a.flush = newFlusher(a.total, p.size, disk.Unwritten())
	defer a.flush.drop()
	if err := a.carryOut(ctx, p); err != nil {
		return err
	}
	if err := a.flush.end(a.root); err != nil {
		return fmt.Errorf("sync what was restored: %w", err)
	}
	return nil
}

func (a *applier) carryOut(ctx context.Context, p *Plan) error {
	if root := deletions(p); root != nil {
		if err := a.walk(ctx, root, a.withSteps(a.enterDeletion), a.leaveDeletion); err != nil {
			return err
		}
	}
	if root := changes(p); root != nil {
		if err := a.walk(ctx, root, a.withSteps(a.enterChange), a.leaveChange); err != nil {
			return err
		}
	}
	if root := linkings(p); root != nil {
		return a.walk(ctx, root, a.withSteps(a.enterLink), a.leaveLink)
	}
	return nil
}

// withSteps returns enter for spots of a plan, whose steps are read before and
// forgotten afterwards.
func (a *applier) withSteps(enter func(*spot, *scratch)) func(*spot, *scratch) {
	return func(n *spot, s *scratch) {
		if n.err == nil {
			n.err = a.read(n)
		}
		enter(n, s)
		n.steps = nil
	}
}

// read reads what a spot's steps need, and the attributes of a directory that
// is to be made.
func (a *applier) read(n *spot) (err error) {
	if n.count > 0 {
		if n.steps, err = a.source.actions(n.from, n.wanted); err != nil {
			n.steps = n.from.bare(n.wanted) // they fail
			return err
		}
	}
	if n.made.IsZero() {
		return nil
	}
	d, err := tree.Header(a.content.records, n.made)
	if err != nil {
		return err
	}
	if n.make != nil {
		n.make.Attr = d.Attr
	} else if n.change == nil {
		n.change = &dirChange{want: d.Attr}
	}
	return nil
}

// fail notes that a path could not be restored. Some errors end everything:
// each further path would fail too.
func (a *applier) fail(path string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fatal != nil {
		return
	}
	if hopeless(err) {
		a.fatal = fmt.Errorf("restore %s: %w", path, err)
	}
	if !a.failedPaths[path] {
		a.failedPaths[path] = true
		a.failed = append(a.failed, Failure{path, err})
	}
}

// noteUnset notes an attribute of a path that this user, or the file system,
// doesn't allow.
func (a *applier) noteUnset(path string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unset = append(a.unset, Failure{path, err})
}

func hopeless(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// ended says whether nothing more is to be begun.
func (a *applier) ended(ctx context.Context) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fatal == nil {
		a.fatal = ctx.Err()
	}
	return a.fatal != nil
}

// advance counts steps that are done.
func (a *applier) advance(n int) {
	if a.progress == nil || n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done += n
	a.progress("restore", a.done, a.total)
}

// tempName is a name for a file that is being written.
func (a *applier) tempName() string { return fmt.Sprintf("%s%016x", tempPrefix, a.temp.Add(1)) }

var errAppendOnly = errors.New("its folder is append-only")

// tempIn is a name for a file in the directory that is going to replace another.
// Where nothing can be replaced it could not be removed either.
func (a *applier) tempIn(dir *dirfd.Dir) (string, error) {
	if dir.AppendOnly() {
		return "", errAppendOnly
	}
	return a.tempName(), nil
}

// spot is a directory in which something is to be done.
type spot struct {
	path, name string
	parent     *spot
	kids       []*spot
	// from are the plan's steps of which those wanted, count of them, are carried
	// out here; steps are these while they are. Steps of directories are not
	// among them.
	from   *dirSteps
	wanted func(*dirSteps, *step) bool
	count  int
	steps  []*action

	make   *tree.Entry // the directory, if it is to be made
	made   band.Ref    // its record
	remove StepKind    // the step that removes it; 0: it stays
	change *dirChange
	units  []unitPlan
	files  int64 // at least so many come below, besides those of the steps
	late   bool  // gets its attributes when its links were made

	fd      *dirfd.Dir
	err     error // the directory can't be entered
	opened  uint32
	pending atomic.Int32
}

// spots finds and makes the spots of a plan.
type spots map[string]*spot

func (all spots) get(path string) *spot {
	n := all[path]
	if n != nil {
		return n
	}
	n = &spot{path: path, name: baseOf(path)}
	all[path] = n
	if path != "" {
		n.parent = all.get(parentOf(path))
		n.parent.kids = append(n.parent.kids, n)
	}
	return n
}

// take gives the spot of a directory the wanted ones of its steps.
func (all spots) take(d *dirSteps, p *Plan, wanted func(*dirSteps, *step) bool) *spot {
	count := d.count(wanted)
	if count == 0 {
		return nil
	}
	n := all.get(d.path)
	n.from, n.wanted, n.count, n.units = d, wanted, count, p.units
	return n
}

// deletions are the directories in which something goes; nil if nothing does.
func deletions(p *Plan) *spot {
	all := spots{}
	wanted := func(_ *dirSteps, s *step) bool {
		return s.was != tree.Dir && (s.kind == StepDelete && !inUnit(p, s) || s.kind == StepReplace && s.want == tree.Dir)
	}
	for d := range p.steps.dirs() {
		all.take(d, p, wanted)
		for i := range d.list {
			if s := &d.list[i]; s.was == tree.Dir && (s.kind == StepDelete || s.kind == StepReplace) {
				all.get(d.pathOf(s)).remove = s.kind
			}
		}
	}
	return all[""]
}

// inUnit reports whether the step is done together with others of a database
// whose main file stays.
func inUnit(p *Plan, s *step) bool { return s.unit != 0 && !p.units[s.unit-1].goes }

// changes are the directories in which something comes or changes, but for
// names of files that have others; nil if nothing does.
func changes(p *Plan) *spot {
	all := spots{}
	wanted := func(d *dirSteps, s *step) bool {
		return !d.linked(s) && (s.kind == StepDelete && inUnit(p, s) || s.kind != StepDelete && s.want != tree.Dir)
	}
	for d := range p.steps.dirs() {
		all.take(d, p, wanted)
		if len(d.links) > 0 {
			all.get(d.path).late = true
		}
		for i := range d.list {
			if s := &d.list[i]; s.want == tree.Dir && s.kind != StepAttributes { // those are in dirs
				n := all.get(d.pathOf(s))
				n.made = d.kid(s.name).want
				n.make = &tree.Entry{Name: s.name, Kind: tree.Dir, Content: n.made}
			}
		}
	}
	for path, change := range p.dirs {
		all.get(path).change = &change
	}
	return all[""]
}

// linkings are the directories in which files get one more name; nil if none do.
func linkings(p *Plan) *spot {
	all := spots{}
	for d := range p.steps.dirs() {
		n := all.take(d, p, (*dirSteps).linked)
		if n == nil {
			continue
		}
		n.late = true
		if d.makes() {
			n.made = d.want
		}
		if change, ok := p.dirs[d.path]; ok {
			n.change = &change
		}
	}
	return all[""]
}

// walk enters each directory after the one it is in, and leaves it after those
// in it, in parallel. Few are open at once: the last found is entered first.
func (a *applier) walk(ctx context.Context, root *spot, enter, leave func(*spot, *scratch)) error {
	w := &spotWalk{stack: []*spot{root}, open: 1}
	w.cond.L = &w.mu
	var group sync.WaitGroup
	for range a.workers {
		group.Go(func() {
			s := &scratch{}
			for n := w.next(); n != nil; n = w.next() {
				if a.ended(ctx) {
					n.err = context.Canceled
				}
				enter(n, s)
				n.pending.Store(int32(len(n.kids)) + 1)
				w.push(n.kids)
				for ; n != nil && n.pending.Add(-1) == 0; n = n.parent {
					leave(n, s)
					w.left()
				}
			}
		})
	}
	group.Wait()
	a.ended(ctx)
	return a.fatal
}

// spotWalk is the stack that the workers of a walk share.
type spotWalk struct {
	mu    sync.Mutex
	cond  sync.Cond
	stack []*spot
	open  int // spots that were pushed and not left
}

func (w *spotWalk) push(list []*spot) {
	if len(list) == 0 {
		return
	}
	w.mu.Lock()
	w.stack = append(w.stack, list...)
	w.open += len(list)
	w.mu.Unlock()
	w.cond.Broadcast()
}

func (w *spotWalk) left() {
	w.mu.Lock()
	w.open--
	if w.open == 0 {
		w.cond.Broadcast()
	}
	w.mu.Unlock()
}

// next waits for a node; nil when all were left.
func (w *spotWalk) next() *spot {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.stack) == 0 && w.open > 0 {
		w.cond.Wait()
	}
	if len(w.stack) == 0 {
		return nil
	}
	n := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	return n
}
