package git

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zlib"
	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// LooseObjects reads and writes the loose objects of a repository. Its methods are safe for
// concurrent use.
type LooseObjects struct {
	dir        string
	format     Format
	shared     bool   // other users of the group write there, too
	alternates string // from a hook's environment: a list of directories

	pending   pendingObjects
	deflaters sync.Pool
	inflaters sync.Pool
}

// loosePath returns the path of a loose object in an object directory.
func loosePath(dir string, oid OID) string {
	return filepath.Join(dir, string(oid[:2]), string(oid[2:]))
}

// write stores an object unless it exists as a loose one. The file is complete and synced before it
// is named. It is named before another process is started, or by SyncObjects.
func (l *LooseObjects) write(kind string, data []byte) (OID, error) {
	oid := l.format.hashObject(kind, data)
	if l.pending.has(oid) {
		return oid, nil
	}
	path := loosePath(l.dir, oid)
	if l.refresh(oid) {
		l.pending.found(oid)
		return oid, nil
	}
	if err := disk.Step("object", path); err != nil {
		return "", fmt.Errorf("write %s %s: %w", kind, oid, err)
	}
	if l.pending.isLarge() {
		if err := l.collect(oid, kind, data); err != nil {
			return "", fmt.Errorf("write %s %s: %w", kind, oid, err)
		}
		return oid, nil
	}
	packed, err := l.deflate(objectHeader(kind, len(data)), data)
	if err == nil {
		err = l.addFanout(filepath.Dir(path))
	}
	temp := ""
	if err == nil {
		temp, err = l.writeTemp(packed)
	}
	if err == nil {
		err = l.pending.add(oid, kind, temp, data, len(data))
	}
	if err != nil {
		return "", fmt.Errorf("write %s %s: %w", kind, oid, err)
	}
	return oid, nil
}

// deflate returns the parts, compressed as one.
func (l *LooseObjects) deflate(parts ...[]byte) ([]byte, error) {
	w, ok := l.deflaters.Get().(*zlib.Writer)
	if !ok {
		return nil, errors.New("no deflater")
	}
	defer l.deflaters.Put(w)
	var b bytes.Buffer
	b.Grow(len(parts[len(parts)-1])/4 + 64) //nolint:mnd // most texts get shorter than that
	w.Reset(&b)
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// collect adds an object to a large batch.
func (l *LooseObjects) collect(oid OID, kind string, data []byte) error {
	packed, err := l.deflate(data)
	if err != nil {
		return err
	}
	return l.pending.addPacked(oid, pendingObject{packed: slices.Clone(packed), size: len(data), object: Object{OID: oid, Type: kind}})
}

// inflate returns the content of a compressed object of size bytes.
func (l *LooseObjects) inflate(packed []byte, size int) ([]byte, error) {
	in, err := l.inflater(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	defer l.inflaters.Put(in)
	data := make([]byte, size)
	_, err = io.ReadFull(in, data)
	return data, err
}

// writeTemp writes a temporary file. If a crash leaves it behind, git's own prune removes it.
func (l *LooseObjects) writeTemp(data []byte) (name string, err error) {
	f, err := os.CreateTemp(l.dir, "tmp_obj_")
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

// addFanout is makeFanout, and registers what it makes.
func (l *LooseObjects) addFanout(dir string) error {
	made, err := l.makeFanout(dir)
	if made {
		l.pending.added(l.dir)
	}
	return err
}

// makeFanout makes the directory of an object, and reports whether it did. In a shared repository it gets
// the mode of objects/, so that other users can write there, too.
func (l *LooseObjects) makeFanout(dir string) (made bool, err error) {
	switch info, err := os.Stat(dir); {
	case err == nil && info.IsDir():
		return false, nil
	case err == nil:
		return false, &fs.PathError{Op: "mkdir", Path: dir, Err: fs.ErrExist}
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	if !l.shared {
		return true, nil
	}
	info, err := os.Stat(l.dir)
	if err != nil {
		return true, err
	}
	return true, os.Chmod(dir, info.Mode()&(fs.ModePerm|fs.ModeSetgid))
}

// Has reports whether the object exists as a loose one.
func (l *LooseObjects) Has(oid OID) bool {
	if !l.format.Valid(oid) {
		return false
	}
	_, err := os.Lstat(loosePath(l.dir, oid))
	return err == nil
}

// refresh sets the times of an object's file to now and reports whether the file exists. An empty
// file doesn't count: a machine crash leaves such files of git's own objects.
func (l *LooseObjects) refresh(oid OID) bool {
	path := loosePath(l.dir, oid)
	info, err := os.Lstat(path)
	return err == nil && info.Size() > 0 && unix.Utimes(path, nil) == nil
}

// Keep reports whether the object exists as a loose one, and protects it from git's prune for as
// long as a new one.
func (l *LooseObjects) Keep(oid OID) bool {
	return l.format.Valid(oid) && (l.pending.has(oid) || l.refresh(oid))
}

const asidePrefix = "tmp_objdir-entire-"

// Quarantine runs do with an environment in which git writes objects into a separate directory, and
// then takes the objects from there: git names objects before it syncs them, and if it is
// configured to sync, it syncs one by one.
func (l *LooseObjects) Quarantine(do func(env []string) error) (err error) {
	aside, err := os.MkdirTemp(l.dir, asidePrefix) // git's prune removes it after a crash
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	others := l.dir
	if strings.ContainsAny(others, "\"\\\n"+string(os.PathListSeparator)) {
		others = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(others) + `"`
	}
	if l.alternates != "" {
		others += string(os.PathListSeparator) + l.alternates
	}
	failed := do([]string{"GIT_OBJECT_DIRECTORY=" + aside, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + others})
	return errors.Join(failed, l.adopt(aside))
}

// adopt adds the loose objects of a directory to the pending ones.
func (l *LooseObjects) adopt(aside string) error {
	for _, path := range disk.Glob(aside, "[0-9a-f][0-9a-f]", "*") {
		oid := OID(filepath.Base(filepath.Dir(path)) + filepath.Base(path))
		if !l.format.Valid(oid) { // a tmp_obj_* of a killed git
			continue
		}
		temp := filepath.Join(l.dir, "tmp_obj_"+strings.TrimPrefix(filepath.Base(aside), asidePrefix)+"_"+string(oid[:8]))
		info, err := os.Stat(path)
		if err == nil {
			err = l.addFanout(filepath.Dir(loosePath(l.dir, oid)))
		}
		if err == nil {
			err = os.Rename(path, temp)
		}
		if err == nil {
			err = l.pending.add(oid, "blob", temp, nil, int(info.Size()))
		}
		if err != nil {
			return fmt.Errorf("write objects: %w", err)
		}
	}
	return nil
}
