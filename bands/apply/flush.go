package apply

import (
	"errors"
	"os"
	"sync"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

const (
	// fewFiles are synced one by one however much else there is to write.
	fewFiles = 64
	// littleData is how much others may have to write for a sync of everything.
	littleData = 16 << 20
	// flushBatch is how many files are held open to be synced together: the first
	// sync of a batch makes the file system commit what all of them need.
	flushBatch = 512
	// flushers is how many files are synced at once.
	flushers = 16
)

// Flusher brings what a restore writes to the disk. Syncing the file system is
// the quickest way for many files, but waits for what all programs have written:
// it is done only where that isn't much more than what the restore writes.
// Otherwise each file and directory is synced by itself.
type Flusher struct {
	byFile bool

	mu    sync.Mutex
	open  []*os.File
	whole bool // something is left for a sync of the file system
}

// add takes a file that was written, which it closes.
func (w *Flusher) add(f *os.File) error {
	if !w.byFile {
		w.later()
		return f.Close()
	}
	disk.StartWriting(f)
	return w.hold(f)
}

// addDir takes a directory in which something has changed; the caller closes it.
func (w *Flusher) addDir(d *dirfd.Dir) {
	if !w.byFile {
		w.later()
		return
	}
	f, err := d.Duplicate()
	if err == nil {
		err = w.hold(f)
	}
	if err != nil {
		w.later()
	}
}

// addName takes a file of which only attributes were changed.
func (w *Flusher) addName(d *dirfd.Dir, name string) {
	if !w.byFile {
		w.later()
		return
	}
	f, err := d.OpenFile(name)
	if err == nil {
		err = w.hold(f)
	}
	if err != nil && !errors.Is(err, dirfd.ErrNotRegular) {
		w.later() // it may not be opened
	}
}

// later leaves something to a sync of the file system.
func (w *Flusher) later() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.whole = true
}

func (w *Flusher) hold(f *os.File) error {
	w.mu.Lock()
	w.open = append(w.open, f)
	var batch []*os.File
	if len(w.open) >= flushBatch {
		batch, w.open = w.open, nil
	}
	w.mu.Unlock()
	return syncFiles(batch)
}

// end waits until all is on the disk.
func (w *Flusher) end(root string) error {
	err := syncFiles(w.open)
	w.open = nil
	if w.whole {
		err = errors.Join(err, disk.Sync(root))
	}
	return err
}

// drop closes what is open.
func (w *Flusher) drop() {
	for _, f := range w.open {
		_ = f.Close()
	}
	w.open = nil
}

// syncFiles syncs and closes files.
func syncFiles(list []*os.File) error {
	errs := make([]error, min(len(list), flushers))
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			for at := i; at < len(list); at += flushers {
				errs[i] = errors.Join(errs[i], list[at].Sync(), list[at].Close())
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
