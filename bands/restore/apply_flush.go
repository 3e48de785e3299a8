package restore

import (
	"errors"
	"os"
	"sync"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

const (
	// fewFiles are synced one by one regardless of the amount of unwritten data.
	fewFiles = 64
	// littleData is the amount of other unwritten data that permits a sync of everything.
	littleData = 16 << 20
	// flushBatch is the number of files kept open to be synced together: the first sync of a
	// batch makes the file system commit the metadata of all of them.
	flushBatch = 512
	// flushers is the number of files that are synced at once.
	flushers = 16
)

// flusher syncs the files written by a restore. Syncing the file system is the fastest way for
// many files, but waits for the unwritten data of all programs: it is used only if there isn't
// much more of it than the restore writes. Otherwise each file and directory is synced by itself.
type flusher struct {
	byFile bool

	mu    sync.Mutex
	open  []*os.File
	whole bool // a sync of the file system is needed
}

// add adds a written file and closes it.
func (w *flusher) add(f *os.File) error {
	if !w.byFile {
		w.later()
		return f.Close()
	}
	disk.StartWriting(f)
	return w.hold(f)
}

// addDir adds a directory whose entries changed; the caller closes it.
func (w *flusher) addDir(d *dirfd.Dir) {
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

// addName adds a file of which only attributes were changed.
func (w *flusher) addName(d *dirfd.Dir, name string) {
	if !w.byFile {
		w.later()
		return
	}
	f, err := d.OpenFile(name)
	if err == nil {
		err = w.hold(f)
	}
	if err != nil && !errors.Is(err, dirfd.ErrNotRegular) {
		w.later() // it can't be opened
	}
}

// later requests a sync of the file system at the end.
func (w *flusher) later() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.whole = true
}

func (w *flusher) hold(f *os.File) error {
	w.mu.Lock()
	w.open = append(w.open, f)
	var batch []*os.File
	if len(w.open) >= flushBatch {
		batch, w.open = w.open, nil
	}
	w.mu.Unlock()
	return syncFiles(batch)
}

// end syncs everything that remains.
func (w *flusher) end(root string) error {
	err := syncFiles(w.open)
	w.open = nil
	if w.whole {
		err = errors.Join(err, disk.Sync(root))
	}
	return err
}

// drop closes the open files.
func (w *flusher) drop() {
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
