package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// pendingObjects are objects that are written and have no names yet. They get
// them together, once their contents are on the disk: synced one by one they
// would cost a commit of the file system's journal each.
type pendingObjects struct {
	mu      sync.Mutex
	objects map[OID]pendingObject
	bytes   int
	// named are the objects that this process has named: who wrote one of them
	// again needs no other sync than its own.
	named map[OID]bool
	// dirs are directories with names that aren't synced.
	dirs map[string]bool
	// bulk reports that WriteInBulk runs.
	bulk bool
}

// pendingObject is an object in a temporary file. The data of trees and commits
// is kept, as it is often read again at once; in bulk also that of blobs.
type pendingObject struct {
	temp   string
	object Object
}

const (
	// maxPending and maxPendingBytes are how many objects wait for their names.
	maxPending      = 256
	maxPendingBytes = 8 << 20
	// maxBulk and maxBulkBytes are the same within WriteInBulk.
	maxBulk      = 16 << 10
	maxBulkBytes = 48 << 20
	// syncEach is how many files are synced one by one rather than with the whole
	// file system.
	syncEach = 1024
)

// WriteInBulk runs do. Of the objects that it writes thousands get their names
// together, as a sync of each commit would take most of the time; SyncObjects still
// has to be called. They are kept in memory, up to 48 MiB, until then.
func (r *Repo) WriteInBulk(do func() error) error {
	r.setBulk(true)
	defer r.setBulk(false)
	return errors.Join(do(), r.publish())
}

func (r *Repo) setBulk(on bool) {
	r.pending.mu.Lock()
	r.pending.bulk = on
	r.pending.mu.Unlock()
	r.treeMu.Lock()
	r.bulk = on
	r.treeMu.Unlock()
}

// publishCommit gives the pending objects their names once a commit is written.
func (r *Repo) publishCommit() error {
	r.pending.mu.Lock()
	defer r.pending.mu.Unlock()
	if r.pending.bulk {
		return nil
	}
	return r.publishLocked()
}

// add takes an object whose file is written.
func (r *Repo) addPending(oid OID, kind, temp string, data []byte, size int) error {
	p := &r.pending
	p.mu.Lock()
	defer p.mu.Unlock()
	if other, twice := p.objects[oid]; twice {
		_ = os.Remove(other.temp)
	}
	if p.objects == nil {
		p.objects = map[OID]pendingObject{}
	}
	o := pendingObject{temp: temp, object: Object{OID: oid, Type: kind}}
	if kind != "blob" || p.bulk && data != nil {
		o.object.Data = slices.Clone(data)
	}
	p.objects[oid] = o
	most, mostBytes := maxPending, maxPendingBytes
	if p.bulk {
		most, mostBytes = maxBulk, maxBulkBytes
	}
	if p.bytes += size; len(p.objects) > most || p.bytes > mostBytes {
		return r.publishLocked()
	}
	return nil
}

// isPending reports whether an object is written and has no name yet.
func (r *Repo) isPending(oid OID) bool {
	r.pending.mu.Lock()
	defer r.pending.mu.Unlock()
	_, found := r.pending.objects[oid]
	return found
}

// readPending returns an object that has no name yet, if its data is kept. Before anything else
// that may need a pending object is read, they all get their names.
func (r *Repo) readPending(spec string) (Object, bool, error) {
	p := &r.pending
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.objects) == 0 || len(spec) < r.Format.HexLen() {
		return Object{}, false, nil
	}
	o, found := p.objects[OID(spec[:r.Format.HexLen()])]
	peeled := spec[r.Format.HexLen():]
	named := peeled == "" || peeled == "^{"+o.object.Type+"}"
	if found && named && (o.object.Type != "blob" || len(o.object.Data) > 0) {
		return Object{OID: o.object.OID, Type: o.object.Type, Data: slices.Clone(o.object.Data)}, true, nil
	}
	if found {
		return Object{}, false, r.publishLocked()
	}
	return Object{}, false, nil
}

// publish gives the pending objects their names.
func (r *Repo) publish() error {
	r.pending.mu.Lock()
	defer r.pending.mu.Unlock()
	return r.publishLocked()
}

func (r *Repo) publishLocked() error {
	p := &r.pending
	if len(p.objects) == 0 {
		return nil
	}
	if err := p.sync(r.objects); err != nil {
		return fmt.Errorf("write objects: %w", err)
	}
	for oid, o := range p.objects {
		if err := r.nameObject(o.temp, r.loosePath(oid)); err != nil {
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

// sync waits until the contents of the pending objects are on the disk.
func (p *pendingObjects) sync(dir string) error {
	if len(p.objects) > syncEach {
		return disk.Sync(dir)
	}
	temps := make([]string, 0, len(p.objects))
	for _, o := range p.objects {
		temps = append(temps, o.temp)
	}
	return disk.SyncFiles(temps, nil)
}

// nameObject gives a synced file the name of an object. The caller holds the lock.
func (r *Repo) nameObject(temp, path string) error {
	r.unsynced(filepath.Dir(path))
	return os.Rename(temp, path)
}

// unsynced notes a directory with new names. The caller holds the lock.
func (r *Repo) unsynced(dir string) {
	if r.pending.dirs == nil {
		r.pending.dirs = map[string]bool{}
	}
	r.pending.dirs[dir] = true
}

// SyncObjects waits until all objects that were written are on the disk. What is
// written after it, a ref or a file, may refer to them.
func (r *Repo) SyncObjects() error {
	p := &r.pending
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := r.publishLocked(); err != nil {
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

// discard removes the objects that have got no names.
func (r *Repo) discard() {
	r.pending.mu.Lock()
	defer r.pending.mu.Unlock()
	for _, o := range r.pending.objects {
		_ = os.Remove(o.temp)
	}
	r.pending.objects = nil
}

// loosePath is the file of a loose object.
func (r *Repo) loosePath(oid OID) string {
	return filepath.Join(r.objects, string(oid[:2]), string(oid[2:]))
}

const asidePrefix = "tmp_objdir-entire-"

// Quarantine runs do with an environment in which git writes objects into a
// directory of their own, and then takes them from there: git doesn't sync them
// before it names them, and syncs one by one where it is asked to.
func (r *Repo) Quarantine(do func(env []string) error) (err error) {
	aside, err := os.MkdirTemp(r.objects, asidePrefix) // git's prune removes what a crash leaves of it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	others := quoteAlternate(r.objects)
	if list := r.locate.getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"); r.locate.Hook && list != "" {
		others += string(os.PathListSeparator) + list
	}
	failed := do([]string{"GIT_OBJECT_DIRECTORY=" + aside, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + others})
	return errors.Join(failed, r.adopt(aside))
}

// quoteAlternate writes a path as one of a list of them.
func quoteAlternate(path string) string {
	if !strings.ContainsAny(path, "\"\\\n"+string(os.PathListSeparator)) {
		return path
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// adopt takes the loose objects of a directory as pending ones.
func (r *Repo) adopt(aside string) error {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(aside), "[0-9a-f][0-9a-f]", "*"))
	if err != nil || len(paths) == 0 {
		return err
	}
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "tmp_obj") {
			continue
		}
		oid := OID(filepath.Base(filepath.Dir(path)) + filepath.Base(path))
		if err := r.adoptObject(oid, path); err != nil {
			return fmt.Errorf("write objects: %w", err)
		}
	}
	return nil
}

// adoptObject makes the file at path a pending object.
func (r *Repo) adoptObject(oid OID, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := r.makeFanout(filepath.Dir(r.loosePath(oid))); err != nil {
		return err
	}
	aside := filepath.Base(filepath.Dir(filepath.Dir(path)))
	temp := filepath.Join(r.objects, "tmp_obj_"+strings.TrimPrefix(aside, asidePrefix)+"_"+string(oid[:8]))
	if err := os.Rename(path, temp); err != nil {
		return err
	}
	return r.addPending(oid, "blob", temp, nil, int(info.Size()))
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
