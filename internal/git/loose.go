package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zlib"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// writeLoose stores an object unless it is there as a loose one. Its file is
// complete and synced before it has its name, which it gets before another
// process is started, or with SyncObjects.
func (r *Repo) writeLoose(kind string, data []byte) (OID, error) {
	oid := r.Format.hashObject(kind, data)
	path := r.loosePath(oid)
	if r.isPending(oid) {
		return oid, nil
	}
	// An empty file is what a crash of the machine leaves of git's own objects.
	if info, err := os.Lstat(path); err == nil && info.Size() > 0 && freshen(path) == nil {
		r.pending.mu.Lock()
		if !r.pending.named[oid] {
			r.unsynced(filepath.Dir(path)) // its writer may not have come to that
		}
		r.pending.mu.Unlock()
		return oid, nil
	}
	if err := disk.Step("object", path); err != nil {
		return "", fmt.Errorf("write %s %s: %w", kind, oid, err)
	}
	if err := r.storeLoose(oid, kind, data); err != nil {
		return "", fmt.Errorf("write %s %s: %w", kind, oid, err)
	}
	return oid, nil
}

func (r *Repo) storeLoose(oid OID, kind string, data []byte) error {
	packed, err := r.deflate(kind, data)
	if err != nil {
		return err
	}
	if err := r.makeFanout(filepath.Dir(r.loosePath(oid))); err != nil {
		return err
	}
	temp, err := r.writeTemp(packed)
	if err != nil {
		return err
	}
	return r.addPending(oid, kind, temp, data, len(data))
}

// deflate is the content of the object's file.
func (r *Repo) deflate(kind string, data []byte) ([]byte, error) {
	w, ok := r.deflaters.Get().(*zlib.Writer)
	if !ok {
		return nil, errors.New("no deflater")
	}
	defer r.deflaters.Put(w)
	var b bytes.Buffer
	b.Grow(len(data)/2 + 64)
	w.Reset(&b)
	if _, err := w.Write(objectHeader(kind, len(data))); err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeTemp writes a file that git's own prune removes if a crash leaves it.
func (r *Repo) writeTemp(data []byte) (name string, err error) {
	f, err := os.CreateTemp(r.objects, "tmp_obj_")
	if err != nil {
		return "", err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if _, err := f.Write(data); err != nil {
		return "", err
	}
	return f.Name(), f.Chmod(0o444)
}

// makeFanout makes the directory of an object. In a shared repository it gets
// the mode of objects/, so that others can write there too.
func (r *Repo) makeFanout(dir string) error {
	switch info, err := os.Stat(dir); {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: dir, Err: fs.ErrExist}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	r.pending.mu.Lock()
	r.unsynced(r.objects)
	r.pending.mu.Unlock()
	if !r.settings.shared {
		return nil
	}
	info, err := os.Stat(r.objects)
	if err != nil {
		return err
	}
	return os.Chmod(dir, info.Mode()&(fs.ModePerm|fs.ModeSetgid))
}

// IsLoose reports whether the object is there as a file of its own.
func (r *Repo) IsLoose(oid OID) bool {
	if !r.Format.Valid(oid) {
		return false
	}
	_, err := os.Lstat(r.loosePath(oid))
	return err == nil
}

// RemoveLoose deletes the files of objects, those that have one. That nothing
// refers to them is for the caller to know.
func (r *Repo) RemoveLoose(oids []OID) error {
	for _, oid := range oids {
		if !r.Format.Valid(oid) {
			return fmt.Errorf("remove object: %q is no object id", oid)
		}
		path := r.loosePath(oid)
		if !r.IsLoose(oid) {
			continue
		}
		if err := disk.Step("remove", path); err != nil {
			return err
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove object %s: %w", oid, err)
		}
		r.treeMu.Lock()
		delete(r.trees, oid)
		r.treeMu.Unlock()
	}
	return nil
}

// Keep says whether the object is there as a loose one, and is one that git's
// prune leaves alone for as long as one that is new.
func (r *Repo) Keep(oid OID) bool {
	if !r.Format.Valid(oid) {
		return false
	}
	if r.isPending(oid) {
		return true
	}
	path := r.loosePath(oid)
	info, err := os.Lstat(path)
	return err == nil && info.Size() > 0 && freshen(path) == nil
}
