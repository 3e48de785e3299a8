package capture

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// walk reads a tree: several workers take directories from a stack. A directory that is as in the
// stat cache costs only its stats. A directory is finished with the last of its subdirectories.
type walk struct {
	root    string
	rules   *Rules
	cache   *StatCache     // nil: every file is read
	strict  bool           // the rules changed: directories are listed again
	touched TouchedFolders // may differ from the cache; nil: anything may
	// notesAgain notes the paths that the next walk has to examine in any case.
	notesAgain bool
	base       *band.DirectoryLoader // of the cache's snapshot; nil without a cache
	to         sink
	stamp      int64 // files changed from then on may change unseen
	coarse     bool  // ctimes can't be used
	keepLeft   bool  // directories left out last time stay left out
	leave      map[string]bool
	room       int64 // new bytes that may be read; negative: any number
	most       most
	progress   func(done int64)
	dev        uint64

	entries atomic.Int64
	files   atomic.Int64 // read
	bytes   atomic.Int64 // of the read files
	fresh   atomic.Int64 // of the read files, without those read again only to be sure
	took    time.Duration

	moved struct {
		once  sync.Once
		byIno map[uint64]StatDirectory
	}

	mu    sync.Mutex // guards the fields below
	ready sync.Cond
	stack []*node
	open  int // directories on the stack or being read
	err   error
	notes notes
}

// most limits what a walk may read, 0 for no limit.
type most struct{ files, bytes int64 }

// notes are paths that are reported to the caller.
type notes struct {
	moving, unreadable, leftOut []string

	again TouchedPaths // may change unseen
}

// errOverRoom means that the changes exceed the room.
var errOverRoom = errors.New("not enough room")

// run reads the tree and returns its root.
func (w *walk) run(ctx context.Context, workers int) (*node, error) {
	w.ready.L = &w.mu
	dir, err := dirfd.OpenRoot(w.root)
	if err != nil {
		return nil, fmt.Errorf("read tree: %w", err)
	}
	top := &node{dir: dir}
	top.users.Store(1)
	top.pending.Store(1)
	if err := dir.Self(&top.st); err != nil {
		return nil, errors.Join(fmt.Errorf("read tree: %w", err), dir.Close())
	}
	w.dev = top.st.Dev
	if w.cache != nil {
		top.old = w.cache.Root
	}
	w.stack, w.open = []*node{top}, 1
	var group sync.WaitGroup
	for range Workers(workers) {
		group.Go(func() { w.work(ctx) })
	}
	group.Wait()
	for _, left := range w.stack {
		left.abandon()
	}
	if w.err != nil {
		return nil, w.err
	}
	return top, nil
}

// Workers returns the number of workers for a setting; 0 is one per processor.
func Workers(workers int) int {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return min(max(workers, 2), 16)
}

func (w *walk) work(ctx context.Context) {
	defer func() {
		if caught := recover(); caught != nil {
			w.stop(fmt.Errorf("read tree: panic: %v\n%s", caught, debug.Stack()))
		}
	}()
	r := &reader{walk: w}
	for {
		n := w.pop()
		if n == nil {
			return
		}
		if err := ctx.Err(); err != nil {
			n.abandon()
			w.stop(err)
			return
		}
		if err := r.visit(ctx, n); err != nil {
			w.stop(err)
			return
		}
	}
}

// pop takes a directory off the stack; nil if none are left.
func (w *walk) pop() *node {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.stack) == 0 && w.open > 0 && w.err == nil {
		w.ready.Wait()
	}
	if len(w.stack) == 0 || w.err != nil {
		return nil
	}
	last := len(w.stack) - 1
	n := w.stack[last]
	w.stack[last] = nil
	w.stack = w.stack[:last]
	return n
}

// push ends the work on one directory; below are its subdirectories.
func (w *walk) push(below []*node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stack = append(w.stack, below...)
	w.open += len(below) - 1
	switch {
	case w.open == 0 || len(below) > 2:
		w.ready.Broadcast()
	case len(below) > 0:
		w.ready.Signal()
	}
}

// stop ends the work of all workers.
func (w *walk) stop(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.ready.Broadcast()
}

// note adds to the notes.
func (w *walk) note(add func(n *notes)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	add(&w.notes)
}

// sortedNotes returns the notes of a finished walk, sorted.
func (w *walk) sortedNotes() notes {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, list := range []*[]string{&w.notes.moving, &w.notes.unreadable, &w.notes.leftOut} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return w.notes
}

// count reports n more entries as done.
func (w *walk) count(n int) {
	done := w.entries.Add(int64(n))
	if w.progress != nil {
		w.note(func(*notes) { w.progress(done) })
	}
}

// examined returns the number of entries whose state a finished walk knows: those that it visited,
// or all of the base if nothing else can have changed.
func (w *walk) examined(b *base) int64 {
	if w.touched != nil {
		return b.entries()
	}
	return w.entries.Load()
}

// reportTo lets the walk report to progress, unless that is nil. of has the known totals; there may
// be more entries now.
func (w *walk) reportTo(progress func(bands.Progress), of bands.Progress) {
	if progress == nil {
		return
	}
	of.Stage = "capture"
	w.progress = func(done int64) {
		of.Done, of.Bytes = done, w.bytes.Load()
		if of.Total > 0 {
			of.Total = max(of.Total, done)
		}
		progress(of)
	}
}

// take counts a file that is about to be read. It returns an error if a limit is exceeded.
func (w *walk) take(it *item) error {
	bytes, files := w.bytes.Add(it.bytes), w.files.Add(1)
	if w.most.bytes > 0 && bytes > w.most.bytes || w.most.files > 0 && files > w.most.files {
		return bands.ErrTooMuch
	}
	if !it.again && w.fresh.Add(it.bytes) > w.room && w.room >= 0 {
		return errOverRoom
	}
	return nil
}

// racy reports whether the file could change once more without a change of its stat data.
func (w *walk) racy(st *dirfd.Stat) bool {
	return st.Ctime >= w.stamp || w.coarse && st.Mtime >= w.stamp
}

// foreign reports whether st is a mount point: of another file system, or of a bind mount of a file
// or directory.
func (w *walk) foreign(st *dirfd.Stat) bool { return st.Mounted || st.IsDir() && st.Dev != w.dev }

// renamed finds a directory of the cache by its inode, for a directory that has been renamed.
func (w *walk) renamed(st *dirfd.Stat) StatDirectory {
	if w.cache == nil {
		return StatDirectory{}
	}
	w.moved.once.Do(func() {
		w.moved.byIno = map[uint64]StatDirectory{}
		w.cache.Each(w.cache.Root, func(d StatDirectory) { w.moved.byIno[d.Ino()] = d })
	})
	return w.moved.byIno[st.Ino]
}

// unknownEntry returns the entry of a file whose content isn't stored.
func unknownEntry(name string, why band.UnknownReason, st *dirfd.Stat) band.Entry {
	return band.Entry{Name: name, Kind: band.Unknown, Reason: why, Attr: AttrOf(st)}
}

// AttrOf returns the attributes of a file from its stat data.
func AttrOf(st *dirfd.Stat) band.Attr {
	return band.Attr{Mode: st.Mode & dirfd.ModePerm, UID: st.UID, GID: st.GID, Mtime: st.ModTime()}
}

func xattrsOf(list []dirfd.Xattr) []band.Xattr {
	if len(list) == 0 {
		return nil
	}
	all := make([]band.Xattr, 0, len(list))
	for _, x := range list {
		all = append(all, band.Xattr{Name: x.Name, Value: x.Value})
	}
	return all
}

// isShared reports whether the name is that of a database's shared memory.
func isShared(name string) bool { return strings.HasSuffix(name, "-shm") }
