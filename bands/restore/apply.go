package restore

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// applier executes plans below a directory. Callers without a plan, which only write directories
// and files, call Walk with EnterChange and LeaveChange.
type applier struct {
	fileWriter

	Source   *comparison // reads the entries for the plan's steps; nil for an export
	Unsynced bool        // no sync: the result isn't needed after a crash

	root    string
	workers int
}

// newApplier returns an applier for the directory root. It writes contents read from content; was
// has the contents of replaced files, nil if there are none.
func newApplier(root string, content, was *bands.ContentReader) *applier {
	a := &applier{root: root, workers: min(max(runtime.NumCPU(), 2), 8)}
	a.outcome = &outcome{failedPaths: map[string]bool{}}
	a.Content, a.was = content, was
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails
	a.temp.Store(binary.LittleEndian.Uint64(seed[:]))
	return a
}

// Run executes the plan: deletions, then creations and changes, then hard links. Directories get
// their attributes when they are complete. Finally everything is synced, unless Unsynced is set.
// It returns an error if it had to stop.
func (a *applier) Run(ctx context.Context, p *Plan) error {
	a.Total, a.Size = p.Total(), p.Size
	if a.Unsynced {
		a.Flush = &flusher{}
		return a.carryOut(ctx, p)
	}
	unwritten := disk.Unwritten()
	a.Flush = &flusher{byFile: unwritten >= 0 && (a.Total <= fewFiles || unwritten > p.Size+littleData)}
	defer a.Flush.drop()
	if err := a.carryOut(ctx, p); err != nil {
		return err
	}
	if err := a.Flush.end(a.root); err != nil {
		return fmt.Errorf("sync the restored files: %w", err)
	}
	return nil
}

func (a *applier) carryOut(ctx context.Context, p *Plan) error {
	if root := deletions(p); root != nil {
		if err := a.Walk(ctx, root, a.withSteps(a.enterDeletion), a.leaveDeletion); err != nil {
			return err
		}
	}
	if root := changes(p); root != nil {
		if err := a.Walk(ctx, root, a.withSteps(a.EnterChange), a.LeaveChange); err != nil {
			return err
		}
	}
	if root := linkings(p); root != nil {
		return a.Walk(ctx, root, a.withSteps(a.EnterLink), a.LeaveLink)
	}
	return nil
}

// withSteps returns enter for nodes of a plan, whose steps are read before and dropped
// afterwards.
func (a *applier) withSteps(enter func(*dirNode, *bands.CopyBuffer)) func(*dirNode, *bands.CopyBuffer) {
	return func(n *dirNode, s *bands.CopyBuffer) {
		if n.Err == nil {
			n.Err = a.read(n)
		}
		enter(n, s)
		n.Steps = nil
	}
}

// read reads the entries for a node's steps, and the attributes of a directory that is to be
// created.
func (a *applier) read(n *dirNode) (err error) {
	if n.Count > 0 {
		if n.Steps, err = a.Source.Actions(n.from, n.wanted); err != nil {
			n.Steps = n.from.Bare(n.wanted) // they will fail
			return err
		}
	}
	if n.made.IsZero() {
		return nil
	}
	d, err := band.LoadHeader(a.Content.Records, n.made)
	if err != nil {
		return err
	}
	if n.Make != nil {
		n.Make.Attr = d.Attr
	} else if n.Change == nil {
		n.Change = &dirChange{Want: d.Attr}
	}
	return nil
}

// dirNode is a directory that is changed or contains changes.
type dirNode struct {
	Path, Name string
	Parent     *dirNode
	Kids       []*dirNode
	// from has the plan's steps for the directory. Those for which wanted returns true, Count of
	// them, are executed here, and are in Steps meanwhile. Steps for subdirectories are not among
	// them.
	from   *dirSteps
	wanted func(*dirSteps, *namedStep) bool
	Count  int
	Steps  []*action

	Make   *band.Entry // the directory, if it is to be created
	made   band.Ref    // its record
	remove StepKind    // the step that removes it; 0: it stays
	Change *dirChange
	Units  []unitPlan
	Files  int64 // at least this many are created below, besides those of the steps
	Late   bool  // gets its attributes after its links are created
	// Same are the entries of the clone source in this directory that have the same content as
	// the steps' files of these names.
	Same map[string]*band.Entry

	fd      *dirfd.Dir
	bare    bool  // entries inherit no extended attributes from the directory
	Err     error // the directory can't be entered
	opened  uint32
	pending atomic.Int32
}

// dirNodes are the nodes of a plan, by path.
type dirNodes map[string]*dirNode

// Get returns the node of a directory, creating it and its parents if needed.
func (all dirNodes) Get(path string) *dirNode {
	n := all[path]
	if n != nil {
		return n
	}
	n = &dirNode{Path: path, Name: band.BasePath(path)}
	all[path] = n
	if path != "" {
		n.Parent = all.Get(band.ParentPath(path))
		n.Parent.Kids = append(n.Parent.Kids, n)
	}
	return n
}

// take assigns the wanted steps of a directory to its node.
func (all dirNodes) take(d *dirSteps, p *Plan, wanted func(*dirSteps, *namedStep) bool) *dirNode {
	count := d.Count(wanted)
	if count == 0 {
		return nil
	}
	n := all.Get(d.Path)
	n.from, n.wanted, n.Count, n.Units = d, wanted, count, p.Units
	return n
}

// deletions returns the root of the directories with deletions; nil if there are none.
func deletions(p *Plan) *dirNode {
	all := dirNodes{}
	wanted := func(_ *dirSteps, s *namedStep) bool {
		return s.Was != band.Dir && (s.Kind == StepDelete && !inUnit(p, s) || s.Kind == StepReplace && s.Want == band.Dir)
	}
	for d := range p.Root.Dirs() {
		all.take(d, p, wanted)
		for i := range d.List {
			if s := &d.List[i]; s.Was == band.Dir && (s.Kind == StepDelete || s.Kind == StepReplace) {
				all.Get(d.PathOf(s)).remove = s.Kind
			}
		}
	}
	return all[""]
}

// inUnit reports whether the step belongs to a database whose main file stays, and is executed
// with the database's other steps.
func inUnit(p *Plan, s *namedStep) bool { return s.Unit != 0 && !p.Units[s.Unit-1].Removed }

// changes returns the root of the directories with creations or changes, except for hard links;
// nil if there are none.
func changes(p *Plan) *dirNode {
	all := dirNodes{}
	wanted := func(d *dirSteps, s *namedStep) bool {
		return !d.Linked(s) && (s.Kind == StepDelete && inUnit(p, s) || s.Kind != StepDelete && s.Want != band.Dir)
	}
	for d := range p.Root.Dirs() {
		all.take(d, p, wanted)
		if len(d.Links) > 0 {
			all.Get(d.Path).Late = true
		}
		for i := range d.List {
			if s := &d.List[i]; s.Want == band.Dir && s.Kind != StepAttributes { // in p.Dirs
				n := all.Get(d.PathOf(s))
				n.made = d.Kid(s.Name).Want
				n.Make = &band.Entry{Name: s.Name, Kind: band.Dir, Content: n.made}
			}
		}
	}
	for path, change := range p.Dirs {
		all.Get(path).Change = &change
	}
	return all[""]
}

// linkings returns the root of the directories with new hard links; nil if none.
func linkings(p *Plan) *dirNode {
	all := dirNodes{}
	for d := range p.Root.Dirs() {
		n := all.take(d, p, (*dirSteps).Linked)
		if n == nil {
			continue
		}
		n.Late = true
		if d.Makes() {
			n.made = d.Want
		}
		if change, ok := p.Dirs[d.Path]; ok {
			n.Change = &change
		}
	}
	return all[""]
}

// Walk enters each directory after its parent, and leaves it after its subdirectories, in
// parallel. The last found is entered first, to limit the number of open directories.
func (a *applier) Walk(ctx context.Context, root *dirNode, enter, leave func(*dirNode, *bands.CopyBuffer)) error {
	w := &nodeWalk{stack: []*dirNode{root}, open: 1}
	w.cond.L = &w.mu
	var group sync.WaitGroup
	for range a.workers {
		group.Go(func() {
			s := &bands.CopyBuffer{}
			for n := w.next(); n != nil; n = w.next() {
				if a.ended(ctx) {
					n.Err = context.Canceled
				}
				enter(n, s)
				n.pending.Store(int32(len(n.Kids)) + 1)
				w.push(n.Kids)
				for ; n != nil && n.pending.Add(-1) == 0; n = n.Parent {
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

// nodeWalk is the stack that the workers of a walk share.
type nodeWalk struct {
	mu    sync.Mutex
	cond  sync.Cond
	stack []*dirNode
	open  int // pushed nodes that were not left yet
}

func (w *nodeWalk) push(list []*dirNode) {
	if len(list) == 0 {
		return
	}
	w.mu.Lock()
	w.stack = append(w.stack, list...)
	w.open += len(list)
	w.mu.Unlock()
	w.cond.Broadcast()
}

func (w *nodeWalk) left() {
	w.mu.Lock()
	w.open--
	if w.open == 0 {
		w.cond.Broadcast()
	}
	w.mu.Unlock()
}

// next waits for a node; it returns nil when all were left.
func (w *nodeWalk) next() *dirNode {
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
