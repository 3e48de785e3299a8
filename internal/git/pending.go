package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// pendingObjects holds objects that are written and have no names yet. They are named together,
// once their contents are synced: synced one by one, each would cost a commit of the file system's
// journal. Its methods are safe for concurrent use.
type pendingObjects struct {
	loose *LooseObjects
	dir   string // of all objects

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

// pendingObject is an object in a temporary file or, in a LargeBatch, in memory. The data of trees and
// commits in files is kept, as it is often read again at once.
type pendingObject struct {
	temp   string
	object Object
	// packed is the content of an object in memory, compressed; it has size bytes.
	packed []byte
	size   int
}

const (
	// maxPending and maxPendingBytes bound the objects that wait for their names.
	maxPending      = 256
	maxPendingBytes = 8 << 20
	// maxLarge and maxLargeBytes are the bounds in a LargeBatch, of compressed bytes.
	maxLarge      = 32 << 10
	maxLargeBytes = 24 << 20
	// fewObjects and fewBytes are the bounds up to which the objects of a LargeBatch become loose ones.
	fewObjects = 128
	fewBytes   = 4 << 20
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
	if kind != "blob" {
		o.object.Data = slices.Clone(data)
	}
	p.objects[oid] = o
	if p.bytes += size; len(p.objects) > maxPending || p.bytes > maxPendingBytes {
		return p.publishLocked()
	}
	return nil
}

// isLarge reports whether a LargeBatch runs.
func (p *pendingObjects) isLarge() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.batch == LargeBatch
}

// addPacked registers an object in memory.
func (p *pendingObjects) addPacked(oid OID, o pendingObject) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.objects == nil {
		p.objects = map[OID]pendingObject{}
	}
	if _, twice := p.objects[oid]; !twice {
		p.bytes += len(o.packed)
		p.objects[oid] = o
	}
	if len(p.objects) > maxLarge || p.bytes > maxLargeBytes {
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
	if found && named && o.packed != nil {
		data, err := p.loose.inflate(o.packed, o.size)
		return Object{OID: o.object.OID, Type: o.object.Type, Data: data}, err == nil, err
	}
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
	if err := p.pack(); err != nil {
		return fmt.Errorf("write objects: %w", err)
	}
	temps := make([]string, 0, len(p.objects))
	for _, o := range p.objects {
		temps = append(temps, o.temp)
	}
	if err := disk.SyncFiles(temps, nil); err != nil {
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

// pack writes the objects in memory, many of them to a pack and few to temporary files. The caller holds the
// lock.
func (p *pendingObjects) pack() error {
	var list []pendingObject
	bytes := 0
	for _, o := range p.objects {
		if o.packed != nil {
			list = append(list, o)
			bytes += len(o.packed)
		}
	}
	if len(list) <= fewObjects && bytes <= fewBytes {
		for _, o := range list {
			if err := p.unpack(o); err != nil {
				return err
			}
		}
		return nil
	}
	slices.SortFunc(list, func(a, b pendingObject) int { return strings.Compare(string(a.object.OID), string(b.object.OID)) })
	dir, err := p.loose.writePack(func(w *packWriter) error {
		for _, o := range list {
			if err := w.addPacked(o); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.noteDir(dir)
	for _, o := range list {
		delete(p.objects, o.object.OID)
	}
	p.bytes -= bytes
	return nil
}

// unpack writes an object in memory to a temporary file. The caller holds the lock.
func (p *pendingObjects) unpack(o pendingObject) error {
	data, err := p.loose.inflate(o.packed, o.size)
	if err != nil {
		return err
	}
	packed, err := p.loose.deflate(objectHeader(o.object.Type, o.size), data)
	if err != nil {
		return err
	}
	made, err := p.loose.makeFanout(filepath.Dir(loosePath(p.dir, o.object.OID)))
	if made {
		p.noteDir(p.dir)
	}
	if err != nil {
		return err
	}
	temp, err := p.loose.writeTemp(packed)
	if err == nil {
		p.objects[o.object.OID] = pendingObject{temp: temp, object: Object{OID: o.object.OID, Type: o.object.Type}}
	}
	return err
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
		if o.temp != "" {
			_ = os.Remove(o.temp)
		}
	}
	p.objects = nil
}
