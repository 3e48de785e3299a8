package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// pendingObjects holds objects that are written and have no names yet. They are named together,
// once their contents are synced: synced one by one, each would cost a commit of the file system's
// journal. Its methods are safe for concurrent use.
type pendingObjects struct {
	dir string // of all objects

	mu      sync.Mutex // guards the fields below
	objects map[OID]pendingObject
	bytes   int
	// named has the objects that this process named. If one of them is written again, its directory
	// needs no further sync.
	named map[OID]bool
	// dirs has the directories with new names that aren't synced.
	dirs map[string]bool
	// batch is the argument of a running WriteTogether, else 0.
	batch Batch
}

// pendingObject is an object in a temporary file. The data of trees and commits is kept, as it is
// often read again at once; in a LargeBatch the data of blobs is kept, too.
type pendingObject struct {
	temp   string
	object Object
}

const (
	// maxPending and maxPendingBytes bound the objects that wait for their names.
	maxPending      = 256
	maxPendingBytes = 8 << 20
	// maxLarge and maxLargeBytes are the bounds in a LargeBatch.
	maxLarge      = 16 << 10
	maxLargeBytes = 48 << 20
	// syncEach is the number of files up to which they are synced one by one rather than with the
	// whole file system.
	syncEach = 1024
)

// publishCommit names the pending objects after a commit is written, except within WriteTogether.
func (p *pendingObjects) publishCommit() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.batch != 0 {
		return nil
	}
	return p.publishLocked()
}

// add registers an object whose file is written.
func (p *pendingObjects) add(oid OID, kind, temp string, data []byte, size int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if other, twice := p.objects[oid]; twice {
		_ = os.Remove(other.temp)
	}
	if p.objects == nil {
		p.objects = map[OID]pendingObject{}
	}
	o := pendingObject{temp: temp, object: Object{OID: oid, Type: kind}}
	if kind != "blob" || p.batch == LargeBatch && data != nil {
		o.object.Data = slices.Clone(data)
	}
	p.objects[oid] = o
	most, mostBytes := maxPending, maxPendingBytes
	if p.batch == LargeBatch {
		most, mostBytes = maxLarge, maxLargeBytes
	}
	if p.bytes += size; len(p.objects) > most || p.bytes > mostBytes {
		return p.publishLocked()
	}
	return nil
}

// has reports whether an object is written but has no name yet.
func (p *pendingObjects) has(oid OID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, found := p.objects[oid]
	return found
}

// read returns a pending object if its data is kept. If the data is not kept, or spec needs more
// than the object itself, it names all pending objects, so that git can read them. Object ids have
// hexLen digits.
func (p *pendingObjects) read(spec string, hexLen int) (Object, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.objects) == 0 || len(spec) < hexLen {
		return Object{}, false, nil
	}
	o, found := p.objects[OID(spec[:hexLen])]
	peeled := spec[hexLen:]
	named := peeled == "" || peeled == "^{"+o.object.Type+"}"
	if found && named && (o.object.Type != "blob" || len(o.object.Data) > 0) {
		return Object{OID: o.object.OID, Type: o.object.Type, Data: slices.Clone(o.object.Data)}, true, nil
	}
	if found {
		return Object{}, false, p.publishLocked()
	}
	return Object{}, false, nil
}

// publish names the pending objects.
func (p *pendingObjects) publish() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.publishLocked()
}

func (p *pendingObjects) publishLocked() error {
	if len(p.objects) == 0 {
		return nil
	}
	var err error
	if len(p.objects) > syncEach {
		err = disk.Sync(p.dir)
	} else {
		temps := make([]string, 0, len(p.objects))
		for _, o := range p.objects {
			temps = append(temps, o.temp)
		}
		err = disk.SyncFiles(temps, nil)
	}
	if err != nil {
		return fmt.Errorf("write objects: %w", err)
	}
	for oid, o := range p.objects {
		path := loosePath(p.dir, oid)
		p.noteDir(filepath.Dir(path))
		if err := os.Rename(o.temp, path); err != nil {
			return fmt.Errorf("write %s %s: %w", o.object.Type, oid, err)
		}
		delete(p.objects, oid)
		if p.named == nil {
			p.named = map[OID]bool{}
		}
		p.named[oid] = true
	}
	p.bytes = 0
	return nil
}

// noteDir records a directory with new names. The caller holds the lock.
func (p *pendingObjects) noteDir(dir string) {
	if p.dirs == nil {
		p.dirs = map[string]bool{}
	}
	p.dirs[dir] = true
}

// added records that a directory has a new name.
func (p *pendingObjects) added(dir string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noteDir(dir)
}

// found records that an object existed before it was to be written: its writer may not have synced
// its directory yet.
func (p *pendingObjects) found(oid OID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.named[oid] {
		p.noteDir(filepath.Dir(loosePath(p.dir, oid)))
	}
}

// sync names the pending objects and waits until the names are on the disk.
func (p *pendingObjects) sync() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.publishLocked(); err != nil {
		return err
	}
	if len(p.dirs) == 0 {
		return nil
	}
	dirs := make([]string, 0, len(p.dirs))
	for dir := range p.dirs {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	if err := disk.SyncFiles(nil, dirs); err != nil {
		return fmt.Errorf("sync objects: %w", err)
	}
	p.dirs = nil
	return nil
}

func (p *pendingObjects) setBatch(b Batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.batch = b
}

// discard removes the pending objects.
func (p *pendingObjects) discard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.objects {
		_ = os.Remove(o.temp)
	}
	p.objects = nil
}
